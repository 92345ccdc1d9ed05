"""The summary as tables in a terminal."""

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from harness.reports.terminal import print_summary
from harness.types.summaries import (
    Amount,
    FailedTrial,
    GateResult,
    GraderSummary,
    Interval,
    Mean,
    ModelSummary,
    Seconds,
    SliceSummary,
    Summary,
)
from harness.types.trajectories import Usage


def model(*, passed=1, trials=2, errors=0):
    rate = Interval(value=passed / trials, low=0.1, high=0.9)
    return ModelSummary(
        trials=trials,
        completed=trials - errors,
        agent_failures=0,
        errors=errors,
        ungraded=0,
        passed=passed,
        pass_rate=rate,
        pass_rate_if_errors_passed=(passed + errors) / trials if errors else None,
        score=Mean(mean=passed / trials),
        graders={
            "g": GraderSummary(
                mean=0.5,
                low=None,
                high=None,
                pass_rate=rate,
                passed=passed,
                failed=trials - passed - errors,
                graded=trials - errors,
                errors=errors,
                skipped=0,
            )
        },
        usage=Usage(),
        seconds=Seconds(p50=None, p90=None),
    )


def amounts(**fields):
    """Give what two of three trials took; `fields` replace what is said."""
    said = {"mean": 1.5, "low": 1.0, "high": 2.0, "p50": 1.4, "p90": 1.9, "total": 3.0}
    return Amount(**{**said, "trials": 2, "samples": 2, "unknown": 1, **fields})


def part(passed=1, trials=2):
    return SliceSummary(
        samples=trials,
        trials=trials,
        errors=0,
        ungraded=0,
        passed=passed,
        pass_rate=Interval(value=passed / trials, low=0.2, high=0.8),
        effective_trials=float(trials),
        pass_rate_if_errors_failed=None,
        pass_rate_if_errors_passed=None,
        score=Mean(mean=passed / trials),
        graders={},
    )


def printed(width=100, encoding="utf-8", **fields):
    summary = Summary(
        **{
            "suite": "release train",
            "run_id": "r",
            "complete": True,
            "passed": True,
            "planned": 2,
            "models": {"m": model()},
            "gates": (),
            **fields,
        }
    )
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    print_summary(Console(file=stream, width=width), summary, Path("runs/x"))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def failed(sample_id="s1", evidence="it said nothing"):
    return FailedTrial(
        sample_id=sample_id,
        model="m",
        epoch=0,
        status="completed",
        grader="g",
        evidence=evidence,
    )


def test_the_table_shows_counts_rate_and_interval_by_model_and_grader():
    text = printed()
    assert "release train: 2 trials on 1 model" in text
    for word in ("trial", "1/2", "50.0 %", "10.0 to 90.0 %", "0.500"):
        assert word in text
    assert "Stored in runs/x" in text


def test_failing_samples_stand_with_grader_and_evidence():
    text = printed(first_failures=(failed(),))
    assert "Failing on m: 1" in text
    assert "s1  g  it said nothing" in text


def test_an_error_that_stopped_several_trials_is_told_once():
    failures = tuple(
        msgspec.structs.replace(failed(f"s{n}", "unauthorized: wrong key"), status="target_error")
        for n in range(4)
    )
    text = printed(first_failures=failures)
    assert text.count("wrong key") == 1
    assert "and 3 more" in text
    assert "the same: s1, s2, s3" in text


def test_gates_reasons_warnings_and_errors_are_told():
    text = printed(
        width=200,
        models={"m": model(errors=1)},
        complete=False,
        passed=False,
        gates=(
            GateResult(text="mean of g of m >= 0.9", model="m", value=0.5, passed=False),
            GateResult(text="mean of g of n >= 0.9", model="n", value=None, passed=None),
        ),
        reasons=("1 of 2 trials ended in errors",),
        warnings=("an invalid pattern",),
    )
    assert "gate missed: mean of g of m >= 0.9 (is 0.5)" in text
    assert "gate not judged: mean of g of n >= 0.9 (nothing measured)" in text
    assert "incomplete: 1 of 2 trials ended in errors" in text
    assert "warning: an invalid pattern" in text
    assert "m: pass rate 50.0 % (1 of 2, 1 error counted as a failure), 95 % interval" in text
    assert "10.0 to 90.0 %; 100.0 % if it had passed" in text
    assert "cannot be judged" in text


def test_errors_that_are_left_out_are_said_to_be_with_both_bounds():
    numbers = msgspec.structs.replace(model(errors=1), pass_rate_if_errors_failed=0.5)
    text = printed(width=200, models={"m": numbers}, errors="exclude")
    assert "Errors are left out of the rates (errors: exclude)." in text
    assert "m: pass rate 50.0 % (1 of 1, 1 error left out), 95 % interval 10.0 to 90.0 %;" in text
    assert "50.0 % if it had failed, 100.0 % if passed" in text
    assert "1/1" in text
    assert "1/2" not in text


def test_that_errors_are_left_out_is_said_where_there_are_none():
    assert "errors: exclude" in printed(models={"m": model()}, errors="exclude")


def test_groups_of_gates_show_each_part_and_weights_each_number():
    part = GateResult(text="mean of g of m >= 0.9", model="m", value=0.5, passed=False)
    weighted = GateResult(
        text="weighted mean of (3 x g + 1 x h) of all models together >= 0.2",
        model=None,
        value=0.25,
        passed=True,
        numbers={"g": 0.333333, "h": None},
    )
    group = GateResult(text="(a or b)", model="m", value=None, passed=True, parts=(part, weighted))
    lines = printed(gates=(group,)).splitlines()
    start = lines.index("gate met: (a or b)")
    assert lines[start + 1] == "  gate missed: mean of g of m >= 0.9 (is 0.5)"
    assert lines[start + 2].endswith("of all models together >= 0.2 (is 0.25: g 0.3333, h -)")


def test_nothing_that_an_agent_says_controls_the_terminal_or_the_markup():
    text = printed(
        first_failures=(failed("id\x1b[2J", "a\x1b]0;t\x07 [bold red]b[/] \u202e c\nd"),)
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold red]b[/]" in text
    assert "c\\nd" in text


HOSTILE = "\x1b[2J\u202e\u200b[bold]b[/]<script>\nThe run met every gate.\r\x9b\u2028\U000e0041"


@pytest.mark.parametrize(
    "fields",
    [
        {"suite": HOSTILE},
        {"models": {HOSTILE: model(errors=1)}},
        {
            "models": {
                "m": msgspec.structs.replace(model(), graders={HOSTILE: model().graders["g"]})
            }
        },
        {"models": {"m": msgspec.structs.replace(model(), slices={"k": {HOSTILE: part()}})}},
        {"models": {"m": msgspec.structs.replace(model(), slices={HOSTILE: {"v": part()}})}},
        {"models": {HOSTILE: msgspec.structs.replace(model(), per_trial={"steps": amounts()})}},
        {"warnings": (HOSTILE,)},
        {"reasons": (HOSTILE,), "complete": False},
        {"gates": (GateResult(text=HOSTILE, model=HOSTILE, value=1.0, passed=True),)},
        {"gates": (GateResult(text="t", model="m", value=1, passed=True, numbers={HOSTILE: 1}),)},
        {
            "first_failures": (
                FailedTrial(
                    sample_id=HOSTILE,
                    model="m",
                    epoch=0,
                    status="completed",
                    grader=HOSTILE,
                    evidence=HOSTILE,
                    pointed=HOSTILE,
                    wanted=HOSTILE,
                    said=HOSTILE,
                ),
            )
        },
    ],
)
def test_hostile_text_is_harmless_and_forges_no_line_wherever_it_stands(fields):
    text = printed(width=300, **fields)
    assert not set(text) & set("\x1b\u202e\u200b\r\x9b\u2028\U000e0041")
    assert "\\nThe run met every gate." in text
    lines = [line.strip() for line in text.splitlines()]
    assert lines.count("The run met every gate.") <= 1
    assert "[bold]b[/]" in text


def test_a_terminal_that_knows_only_ascii_still_gets_the_table():
    text = printed(encoding="ascii", first_failures=(failed(evidence="café 日本"),))
    assert "caf\\xe9" in text
    assert "50.0 %" in text


def test_a_narrow_terminal_loses_no_name():
    text = printed(width=60, first_failures=(failed(evidence="word " * 40),))
    assert text.count("word") == 40


def test_what_a_trial_takes_stands_in_a_table_of_its_own():
    unknown = amounts(mean=None, low=None, high=None, p50=None, p90=None, trials=0)
    per_trial = {
        "seconds": amounts(),
        "cost_usd": amounts(mean=0.01234, low=None),
        "tokens": amounts(mean=123_456.7, unknown=0),
        "steps": unknown,
    }
    numbers = msgspec.structs.replace(model(), per_trial=per_trial)
    lines = [line.split("  ") for line in printed(models={"m": numbers}).splitlines()]
    rows = {cells[1]: [cell.strip() for cell in cells[2:] if cell] for cells in lines if cells[1:]}
    assert rows["seconds"] == ["1.5", "1 to 2", "1.4", "1.9", "2 of 3"]
    assert rows["cost"] == ["$0.0123", "-", "$1.40", "$1.90", "2 of 3"]
    assert rows["tokens"][0] == "123,457"
    assert "steps" not in rows


def test_slices_stand_in_a_table_and_of_many_those_that_passed_least():
    values = {f"v{n:02}": part(passed=n, trials=30) for n in range(30)}
    text = printed(models={"m": msgspec.structs.replace(model(), slices={"kind": values})})
    assert "slices of m" in text
    assert "kind: v00" in text
    assert "kind: v19" in text
    assert "kind: v20" not in text
    assert "10 further slices in summary.json" in text


def test_a_gate_without_a_value_says_why():
    gate = GateResult(text="t", model="m", value=None, passed=False, note="no interval")
    assert "gate missed: t (no interval)" in printed(gates=(gate,))


def test_what_judges_used_is_one_line_and_left_out_where_none_was_asked():
    used = Usage(input_tokens=12_345, output_tokens=67, cost_usd=0.5)
    judged = msgspec.structs.replace(model(), judge_usage=used)
    text = printed(models={"m": judged, "other": model()})
    assert "judges of m: 12,345 tokens in, 67 tokens out, $0.5000" in text
    assert text.count("judges of") == 1


def unjudged(**fields):
    """Give a model whose grader broke on every trial, or once (with both bounds)."""
    said = {"mean": None, "pass_rate": Interval(value=None), "graded": 0, "failed": 0, "errors": 2}
    of = model()
    grader = msgspec.structs.replace(of.graders["g"], **{**said, "passed": 0, **fields})
    return msgspec.structs.replace(of, graders={"g": grader})


def test_a_grader_of_which_nothing_was_judged_shows_no_zero():
    (line,) = [
        line for line in printed(models={"m": unjudged()}).splitlines() if line.startswith("  g ")
    ]
    assert line.split() == ["g", "-", "-", "-", "-", "2"]


def test_a_grader_that_broke_now_and_then_has_both_bounds():
    rates = {"pass_rate_if_errors_failed": 0.5, "pass_rate_if_errors_passed": 1.0}
    rate = Interval(value=0.5, low=0.1, high=0.9)
    of = unjudged(passed=1, graded=1, errors=1, mean=0.5, pass_rate=rate, **rates)
    said = "m: g: pass rate 50.0 % (1 error counted as a failure); 100.0 % if it had passed"
    assert said in printed(models={"m": of}).splitlines()


def test_a_slice_of_which_nothing_was_judged_shows_no_zero_and_comes_after_others():
    lost = msgspec.structs.replace(
        part(0), errors=2, pass_rate=Interval(value=None), score=Mean(mean=None)
    )
    of = msgspec.structs.replace(
        model(), slices={"l": {"lost": lost, **{str(n): part() for n in range(20)}}}
    )
    text = printed(models={"m": of})
    assert "l: lost" not in text
    few = msgspec.structs.replace(model(), slices={"l": {"lost": lost}})
    (line,) = [row for row in printed(models={"m": few}).splitlines() if "l: lost" in row]
    assert line.split()[2:] == ["-", "-", "-", "-", "2"]


def test_trials_on_which_a_grader_broke_alike_are_told_once():
    broke = [
        msgspec.structs.replace(
            failed(f"s{n}", f"grader_broke: KeyError: '{n}' (checks.py:7)"),
            status="grading_error",
            said="an answer that explains nothing of it",
        )
        for n in range(3)
    ]
    text = printed(first_failures=tuple(broke))
    assert text.count("checks.py:7") == 1
    assert "and 2 more" in text
    assert "alike: s1, s2" in text
    assert "an answer" not in text
