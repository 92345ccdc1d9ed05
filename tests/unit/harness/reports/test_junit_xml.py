"""JUnit XML, held against a schema of what Jenkins' xUnit plugin takes."""

from pathlib import Path

import msgspec
import pytest
from fakes.explained_runs import failed_trial, make_explanation, make_summary, model_summary
from lxml import etree

from harness.reports.junit_xml import ReportedRun, junit_xml
from harness.types.comparisons import (
    ComparedRun,
    Comparison,
    DivergenceGroup,
    Pairing,
    SamplePair,
)
from harness.types.explanations import Place, SampleResult
from harness.types.summaries import GateResult, Interval, Mean, SliceSummary
from harness.types.verdicts import SuiteVerdict

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parents[3] / "data/reports/junit.xsd"))
PLACES = {"": Place("data.jsonl", 0), "s1": Place("data.jsonl", 7)}


def result(sample_id="s1", **fields):
    return SampleResult(sample_id=sample_id, model=fields.pop("model", "m"), **fields)


def document(*results, places=PLACES, with_lines=False, explanation=None, **fields):
    run = ReportedRun(
        summary=make_summary(**fields),
        explanation=explanation or make_explanation(),
        results=results,
        places=places,
        with_lines=with_lines,
    )
    root = etree.fromstring(junit_xml(run))
    if not with_lines:
        SCHEMA.assertValid(root)
    return root


def case_of(root, name="s1"):
    return root.find(f".//testcase[@name='{name}']")


FAILED = result(failed=1, passed=2, failures=(failed_trial(evidence="no id", said="that"),))
ERRORED = result("s2", errored=1, errors=(failed_trial("s2", grader=None, status="target_error"),))
MIXED = result("s3", failed=1, errored=1, failures=(failed_trial("s3"),), errors=ERRORED.errors)
UNGRADED = result("s4", ungraded=1)


def test_a_sample_is_a_case_and_a_model_a_suite():
    root = document(result(passed=3, seconds=1.23456), result("s2", passed=3, model="n"))
    names = [suite.get("name") for suite in root]
    assert names == ["release train on m", "release train on n", "release train: verdict"]
    case = case_of(root)
    assert dict(case.attrib) == {"name": "s1", "classname": "release train.m", "time": "1.235"}
    assert list(case) == []


def test_the_verdict_knows_of_comparisons_and_of_errors_left_out():
    told = make_explanation(state="regressed", verdict="REGRESSED: m against base.")
    models = {"m": model_summary(errors=1)}
    root = document(explanation=told, passed=True, models=models, errors="exclude")
    found = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert (found["passed"], found["verdict"]) == ("false", "REGRESSED: m against base.")
    assert (found["errors_left_out"], found["errors_rule"]) == ("1", "exclude")


def test_what_the_reader_should_know_are_properties_of_the_verdict():
    said = "the observing grader tone broke on 18 trials: KeyError: 'x' (g.py:5)"
    root = document(explanation=make_explanation(warnings=(said, "and this")))
    found = [one.get("value") for one in root.iter("property") if one.get("name") == "warning"]
    assert found == [said, "and this"]


@pytest.mark.parametrize(
    ("made", "tag", "message", "kind"),
    [
        (FAILED, "failure", "1 of 3 failed: no id", "g"),
        (ERRORED, "error", "1 of 1 ended in an error: it said nothing", "target_error"),
        (MIXED, "failure", "1 of 2 failed: it said nothing", "g"),
        (UNGRADED, "skipped", "no grader applied", "ungraded"),
    ],
)
def test_how_epochs_ended_makes_a_failure_an_error_or_a_skipped_case(made, tag, message, kind):
    (child,) = case_of(document(made), made.sample_id)
    assert (child.tag, child.get("message"), child.get("type")) == (tag, message, kind)


def test_the_counts_are_those_of_the_cases():
    root = document(result("s0", passed=1), FAILED, ERRORED, MIXED, UNGRADED)
    suite = root[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == [*"5211"]
    assert [root.get(name) for name in ("tests", "failures", "errors")] == [*"621"]


def test_the_text_holds_the_line_of_the_dataset_and_the_evidence():
    (failure,) = case_of(document(FAILED))
    assert failure.text == "data.jsonl:7\nepoch 0: g: no id\n  said: that"
    (error,) = case_of(document(ERRORED), "s2")
    assert error.text == "epoch 0: target error: it said nothing"


def test_further_failures_of_a_sample_are_counted():
    (failure,) = case_of(document(result(failed=9, failures=(failed_trial(),))))
    assert failure.text.endswith("and 8 more")


def test_the_dataset_is_the_file_of_the_suite_and_lines_are_put_on_cases_where_asked_for():
    plain = document(FAILED)
    assert (plain[0].get("file"), case_of(plain).get("line")) == ("data.jsonl", None)
    case = case_of(document(FAILED, with_lines=True))
    assert (case.get("file"), case.get("line")) == ("data.jsonl", "7")


def test_numbers_are_properties_of_the_suite():
    found = {one.get("name"): one.get("value") for one in document(FAILED)[0].iter("property")}
    assert found["model"] == "m"
    assert (found["trials"], found["pass_rate"], found["pass_rate.low"]) == ("2", "0.5", "0.1")
    assert (found["grader.g.pass_rate"], found["input_tokens"]) == ("0.5", "3")
    assert "cost_usd" not in found


def test_a_dot_in_a_name_makes_no_package():
    root = document(result(model="a/gpt-4.1", passed=1), suite="v1.2")
    assert case_of(root).get("classname") == "v1_2.a/gpt-4_1"


def verdict_cases(root):
    return {case.get("name"): [child.tag for child in case] for case in root[-1].iter("testcase")}


def test_gates_are_cases_of_the_verdict():
    gates = [
        GateResult(text=f"gate {passed}", model="m", value=0.5, passed=passed)
        for passed in (True, False, None)
    ]
    assert verdict_cases(document(gates=tuple(gates))) == {
        "the run is complete": [],
        "gate: gate True": [],
        "gate: gate False": ["failure"],
        "gate: gate None": ["failure"],
    }


def test_of_a_group_of_gates_those_that_were_not_met_are_named():
    met = GateResult(text="fine", model="m", value=1.0, passed=True)
    missed = GateResult(text="(tags: seat) >= 0.9", model="m", value=0.75, passed=False)
    unknown = GateResult(text="cost <= 1", model="m", value=None, passed=None, note="no such model")
    inner = GateResult(text="any", model="m", value=None, passed=False, parts=(unknown, missed))
    outer = GateResult(text="all", model="m", value=None, passed=False, parts=(met, inner))
    (failure,) = case_of(document(gates=(outer,)), "gate: all")
    assert failure.get("message") == "missed: 1 of 2 gates"
    assert failure.text == (
        "cost <= 1: not judged, no such model\n(tags: seat) >= 0.9: missed, is 0.75"
    )


def test_the_numbers_of_slices_are_properties_of_their_model():
    model = model_summary(trials=2_000_000)
    seat = SliceSummary(
        samples=4,
        trials=4,
        errors=0,
        ungraded=0,
        passed=3,
        pass_rate=Interval(value=0.75),
        effective_trials=None,
        pass_rate_if_errors_failed=None,
        pass_rate_if_errors_passed=None,
        score=Mean(mean=None),
        graders={},
    )
    models = {"m": msgspec.structs.replace(model, slices={"tags": {"seat": seat}})}
    root = document(models=models)
    found = {one.get("name"): one.get("value") for one in root.iter("property")}
    begin = "slice.tags.seat"
    told = [found[f"{begin}.{what}"] for what in ("trials", "passed", "pass_rate")]
    assert told == ["4", "3", "0.75"]
    assert found["trials"] == "2000000"


def test_a_run_in_which_nothing_ran_is_not_green():
    empty = {"m": model_summary(trials=0, passed=0)}
    root = document(complete=False, models=empty, reasons=("nobody listens", "so it goes"))
    assert verdict_cases(root) == {"the run is complete": ["error"]}
    (error,) = case_of(root, "the run is complete")
    assert (error.get("message"), error.text) == ("nobody listens", "nobody listens\nso it goes")


@pytest.mark.parametrize(
    ("verdict", "tags"),
    [("regressed", ["failure"]), ("invalid", ["error"]), ("inconclusive", []), ("improved", [])],
)
def test_a_comparison_is_a_case_of_the_verdict(verdict, tags):
    lost = DivergenceGroup(kind="no_call", words="skips it", tool=None, samples=("a",), of=2)
    fell = SamplePair(
        sample_id="a",
        baseline_passes=3,
        baseline_trials=3,
        candidate_passes=0,
        candidate_trials=3,
        place="data.jsonl:7",
    )
    compared = Comparison(
        suite="s",
        baseline=ComparedRun(run_id="base", model="m"),
        candidate=ComparedRun(run_id="r-1", model="m"),
        pairing=Pairing(paired=2),
        verdict=SuiteVerdict(verdict=verdict, question="fixed_suite"),
        regressed=(fell,),
        divergences=(lost,),
    )
    root = document(explanation=make_explanation(comparisons=(compared,)))
    assert verdict_cases(root)["m compared with base"] == tags
    if tags:
        text = case_of(root, "m compared with base")[0].text
        message = case_of(root, "m compared with base")[0].get("message")
        assert message == f"{verdict.upper()}: 1 sample regressed"
        assert text.splitlines() == [
            "1 of 2 regressions first differs: skips it",
            "a (data.jsonl:7): 3/3 passed before, 0/3 now",
        ]


def test_what_xml_cannot_hold_is_shown_as_something_else():
    hostile = "\x00\x1b[31m\ud800\ufffe<&\"'>]]>"
    failed = failed_trial(hostile, grader=hostile, evidence=hostile, said=hostile, model=hostile)
    made = result(hostile, model=hostile, failed=1, failures=(failed,))
    root = document(made, suite=hostile, reasons=(hostile,), complete=False)
    text = "".join(root.itertext())
    assert "\\x00\\x1b[31m\\ud800\ufffd<&\"'>]]>" in text


def test_a_long_text_is_cut():
    failed = failed_trial(evidence="x" * 99_999)
    (failure,) = case_of(document(result(failed=1, failures=(failed,))))
    assert (len(failure.get("message")), len(failure.text)) == (300, 2000 + len("data.jsonl:7\n"))
