"""A run as JUnit XML, for the viewers of GitHub, GitLab and Jenkins.

A model is a `testsuite`, a sample on it a `testcase`; a last suite holds the verdict: that the run
is complete, its gates, and the comparison. The document keeps to what Jenkins' schema of it
(`junit-10.xsd`, 2.2.4 and newer) allows, unless lines are asked for.
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from junitparser import Error, Failure, Skipped
from junitparser.xunit2 import JUnitXml, TestCase, TestSuite

from harness.reports.comparison_words import exclusion_lines, group_sentence, pair_line
from harness.reports.number_words import gate_found
from harness.system.shown_numbers import counted, counted_of
from harness.system.texts import cut, harmless, one_line
from harness.types.comparisons import Comparison
from harness.types.explanations import Explanation, Place, SampleResult
from harness.types.summaries import FailedTrial, GateResult, ModelSummary, Summary
from harness.types.verdicts import VERDICT_WORDS

_LONGEST, _MESSAGE = 2_000, 300
_MOST_NAMED = 10
_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no document of XML 1.0 may hold, escaped or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """What a report of every sample is made of.

    `places` are the lines of samples by id; at the empty id stands the dataset. `with_lines` puts
    `file` and `line` on every testcase, which some viewers read and Jenkins' schema refuses.
    """

    summary: Summary
    explanation: Explanation
    results: Iterable[SampleResult]
    places: Mapping[str, Place] = field(default_factory=dict)
    with_lines: bool = False


def junit_xml(run: ReportedRun) -> bytes:
    """Return the document, in UTF-8."""
    document = JUnitXml(xml_text(run.summary.suite))
    by_model: dict[str, list[SampleResult]] = {name: [] for name in run.summary.models}
    for result in run.results:
        by_model.setdefault(result.model, []).append(result)
    for model, results in by_model.items():
        document.append(_model(run, model, results))
    document.append(_verdict(run))
    document.update_statistics()
    buffer = io.BytesIO()
    document.write(buffer)
    return buffer.getvalue()


def xml_text(text: str, width: int = 0) -> str:
    """Show control characters as escapes, and what XML cannot hold as U+FFFD."""
    shown = _NO_XML.sub("\ufffd", harmless(text))
    return cut(shown, width) if width else shown


def _model(run: ReportedRun, model: str, results: Iterable[SampleResult]) -> TestSuite:
    suite = TestSuite(xml_text(f"{run.summary.suite} on {model}"))
    if dataset := run.places.get(""):
        suite.file = xml_text(dataset.file)
    suite.add_property("model", xml_text(model))
    numbers = run.summary.models.get(model)
    if numbers and numbers.errors and run.summary.errors == "exclude":
        suite.add_property("errors_left_out", str(numbers.errors))
    for name, value in _numbers(numbers) if numbers else ():
        suite.add_property(xml_text(name), xml_text(value))
    suite.extend([_case(run, result) for result in results])
    return suite


def _numbers(model: ModelSummary) -> Iterator[tuple[str, str]]:
    counts = ("trials", "completed", "agent_failures", "errors", "ungraded", "passed")
    yield from ((name, str(getattr(model, name))) for name in counts)
    rate, usage = model.pass_rate, model.usage
    values: dict[str, float | None] = {
        "pass_rate": rate.value,
        "pass_rate.low": rate.low,
        "pass_rate.high": rate.high,
        "score.mean": model.score.mean,
        "seconds.p50": model.seconds.p50,
        "seconds.p90": model.seconds.p90,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }
    for name, grader in model.graders.items():
        values[f"grader.{name}.mean"] = grader.mean
        values[f"grader.{name}.pass_rate"] = grader.pass_rate.value
        values[f"grader.{name}.errors"] = grader.errors or None
    values |= _slices(model)
    for name, value in values.items():
        if value is not None:
            yield name, str(value) if isinstance(value, int) else f"{value:.6g}"


def _slices(model: ModelSummary) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for name, slices in model.slices.items():
        for value, of in slices.items():
            begin = f"slice.{name}.{value}"
            values |= {
                f"{begin}.trials": of.trials,
                f"{begin}.passed": of.passed,
                f"{begin}.pass_rate": of.pass_rate.value,
                f"{begin}.errors": of.errors or None,
            }
    return values


def _case(run: ReportedRun, result: SampleResult) -> TestCase:
    names = (run.summary.suite, result.model)
    # A dot divides packages from classes, and names of models are full of them.
    classname = ".".join(xml_text(one_line(name)).replace(".", "_") for name in names)
    case = TestCase(xml_text(one_line(result.sample_id)), classname, round(result.seconds, 3))
    place = run.places.get(result.sample_id)
    if place is not None and run.with_lines:
        # The library knows no such attributes.
        case._elem.set("file", xml_text(place.file))  # noqa: SLF001
        case._elem.set("line", str(place.line))  # noqa: SLF001
    if outcome := _outcome(result):
        kind, message = outcome
        shown = result.failures or result.errors
        case.append(kind(xml_text(message, _MESSAGE), _type(shown)))
        case.result[0].text = "\n".join(_text(result, place))
    return case


_Outcome = tuple[type[Failure | Error | Skipped], str]


def _outcome(result: SampleResult) -> _Outcome | None:
    """Return how a sample is shown: its failures before its errors."""
    first = next(iter(result.failures or result.errors), None)
    said = f": {one_line(first.evidence)}" if first else ""
    if result.failed:
        return Failure, f"{result.failed} of {result.trials} failed{said}"
    if result.errored:
        return Error, f"{result.errored} of {result.trials} ended in an error{said}"
    if result.ungraded == result.trials:
        return Skipped, "no grader applied"
    return None


def _type(shown: Iterable[FailedTrial]) -> str:
    first = next(iter(shown), None)
    return xml_text(one_line(first.grader or first.status)) if first else "ungraded"


def _text(result: SampleResult, place: Place | None) -> Iterator[str]:
    if place is not None:
        yield xml_text(str(place))
    for failed in (*result.failures, *result.errors):
        by = failed.grader or failed.status.replace("_", " ")
        yield xml_text(f"epoch {failed.epoch}: {by}: {failed.evidence}", _LONGEST)
        told = {"points at": failed.pointed, "wanted": failed.wanted, "said": failed.said}
        for word, text in told.items():
            if text is not None:
                yield xml_text(f"  {word}: {text}", _LONGEST)
    more = result.failed + result.errored - len(result.failures) - len(result.errors)
    if more > 0:
        yield f"and {more} more"


def _verdict(run: ReportedRun) -> TestSuite:
    suite = TestSuite(xml_text(f"{run.summary.suite}: verdict"))
    suite.add_property("verdict", xml_text(run.explanation.verdict))
    suite.add_property("run_id", xml_text(run.summary.run_id))
    suite.add_property("passed", str(run.explanation.state == "passed").lower())
    suite.add_property("errors_rule", run.summary.errors)
    if step := run.explanation.next_step:
        command = f": {step.command}" if step.command else ""
        suite.add_property("next_step", xml_text(one_line(f"{step.words}{command}"), _LONGEST))
    for warning in run.explanation.warnings:
        suite.add_property("warning", xml_text(one_line(warning), _MESSAGE))
    cases = [_complete(run), *(_gate(run, gate) for gate in run.summary.gates)]
    cases += [_comparison(run, one) for one in run.explanation.comparisons]
    suite.extend(cases)
    return suite


def _comparison(run: ReportedRun, comparison: Comparison) -> TestCase:
    verdict, model = comparison.verdict, comparison.candidate.model
    case = _of_verdict(run, f"{model} compared with {comparison.baseline.run_id}")
    if verdict.verdict in {"regressed", "invalid"}:
        kind: type[Failure | Error] = Failure if verdict.verdict == "regressed" else Error
        why = verdict.reason or f"{counted(len(comparison.regressed), 'sample')} regressed"
        if comparison.errored:
            errored = counted(len(comparison.errored), "sample")
            why += f"; {errored} with nothing but errors on one side"
        case.append(kind(xml_text(f"{VERDICT_WORDS[verdict.verdict]}: {why}", _MESSAGE), "verdict"))
        said = [*exclusion_lines(comparison)]
        said += map(group_sentence, comparison.divergences)
        said += map(pair_line, comparison.regressed[:_MOST_NAMED])
        if (more := len(comparison.regressed) - _MOST_NAMED) > 0:
            said.append(f"and {more} more")
        case.result[0].text = xml_text("\n".join(said), _LONGEST)
    return case


def _of_verdict(run: ReportedRun, name: str) -> TestCase:
    suite = xml_text(one_line(run.summary.suite)).replace(".", "_")
    return TestCase(xml_text(one_line(name)), f"{suite}.verdict", 0.0)


def _complete(run: ReportedRun) -> TestCase:
    case = _of_verdict(run, "the run is complete")
    if not run.summary.complete:
        reasons = run.summary.reasons or ("it was cut off",)
        case.append(Error(xml_text(one_line(reasons[0]), _MESSAGE), "incomplete"))
        case.result[0].text = xml_text("\n".join(reasons))
    return case


_WORDS: Mapping[bool | None, Literal["missed", "not judged"]] = {
    False: "missed",
    None: "not judged",
}


def _gate(run: ReportedRun, gate: GateResult) -> TestCase:
    case = _of_verdict(run, f"gate: {gate.text}")
    if gate.passed is not True:
        parts = [part for part in gate.parts if part.passed is not True]
        count = counted_of(len(parts), len(gate.parts), "gate")
        found = count if parts else gate_found(gate)
        case.append(Failure(xml_text(f"{_WORDS[gate.passed]}: {found}"), "gate"))
        said = [
            f"{part.text}: {_WORDS[part.passed]}, {gate_found(part)}" for part in _leaves(parts)
        ]
        if said:
            case.result[0].text = xml_text("\n".join(said), _LONGEST)
    return case


def _leaves(gates: Iterable[GateResult]) -> Iterator[GateResult]:
    """Return the single gates that were not met, those of groups inside of groups too."""
    for gate in gates:
        if gate.parts:
            yield from _leaves(part for part in gate.parts if part.passed is not True)
        else:
            yield gate
