"""The page of a run."""

import re
from datetime import UTC, datetime

import msgspec
import pytest
from fakes.explained_runs import failed_trial, make_explanation
from markdown_it import MarkdownIt

from harness.reports.summary_markdown import summary_markdown
from harness.types.comparisons import (
    SUITE_LINE,
    Change,
    ComparedRun,
    Comparison,
    DivergenceGroup,
    EventAt,
    Pairing,
    SamplePair,
)
from harness.types.explanations import (
    BadEvent,
    FailureGroup,
    MissedGate,
    ModelNumbers,
    NextStep,
    ShownFailure,
    SliceNumbers,
)
from harness.types.summaries import Interval
from harness.types.verdicts import SuiteVerdict

HOSTILE = "`*_<img src=x onerror=y>|[a](http://x)\n# @someone \x1b[31m ```"


def group(number=0, **fields):
    return FailureGroup(
        **{
            "origin": "agent",
            "grader": "g",
            "words": f"skips `tool{number}`",
            "trials": 9 - number,
            "samples": ("a", "b", "c", "d"),
            "sample_count": 7,
            "models": ("m",),
            "evidence": "nothing was echoed",
            **fields,
        }
    )


def shown(number=0, **fields):
    event = EventAt(turn=1, event=2, type="tool_call", text="{}", name="lookup")
    return ShownFailure(
        **{
            "trial": failed_trial(f"s{number}", said="that", wanted="this", epoch=number),
            "bad": BadEvent(origin="agent", words="skips `lookup`", event=event),
            "place": "data.jsonl:3",
            "commands": ("regrade show r s1", "regrade run s.yaml"),
            **fields,
        }
    )


def numbers(number=0, **fields):
    rate = Interval(value=0.5, low=0.1, high=0.9)
    return ModelNumbers(
        **{
            "model": f"m{number}",
            "passed": 1,
            "trials": 2,
            "errors": 1,
            "pass_rate": rate,
            "served": ("m-2031",),
            **fields,
        }
    )


def comparison(number=0, **fields):
    lost = DivergenceGroup(
        kind="no_call", words="candidate skips `lookup`", tool="lookup", samples=("a", "b"), of=3
    )
    return Comparison(
        **{
            "suite": "s",
            "baseline": ComparedRun(
                run_id="base",
                model="m",
                started_at=datetime(2031, 2, 3, tzinfo=UTC),
                age_days=15.0,
                stale=True,
            ),
            "candidate": ComparedRun(run_id="r-1", model=f"m{number}"),
            "pairing": Pairing(paired=20, added=("x",), changed=("y", "z")),
            "verdict": SuiteVerdict(verdict="regressed", question="fixed_suite"),
            "divergences": (lost,),
            "changes": (Change(what="commit", before="abc", after="def"),),
            **fields,
        }
    )


def page(**fields):
    return summary_markdown(make_explanation(**fields))


FULL = {
    "state": "gate_missed",
    "verdict": "FAILED: 1 of 1 gate missed.",
    "failing": 12,
    "looked_at": 12,
    "models": tuple(map(numbers, range(9))),
    "groups": tuple(map(group, range(9))),
    "origins": {"agent": 10, "provider": 2},
    "shown": tuple(map(shown, range(3))),
    "missed_gates": tuple(MissedGate(text=f"gate {n}", value=0.25) for n in range(9)),
    "reasons": ("the disk is full",),
    "warnings": tuple(f"warning {n}" for n in range(30)),
    "comparisons": tuple(map(comparison, range(4))),
}


def test_a_green_run_is_two_lines_and_its_numbers():
    text = page(models=(numbers(errors=0, served=("m0",)),))
    assert text == (
        "## release train: PASSED.\n\n"
        "- `m0`: 1 of 2 passed, 50.0 % (95 % interval 10.0 to 90.0 %)\n"
    )


def test_the_first_ten_lines_hold_verdict_divergences_origins_and_groups():
    first = "\n".join(page(**FULL).splitlines()[:10])
    for expected in (
        "## release train: FAILED: 1 of 1 gate missed.",
        "2 of 3 regressed samples first differ: **candidate skips `lookup`**",
        "Where they come from: agent 10, provider 2.",
        (
            "1. **9 trials**, agent, grader `g`: **skips `tool0`**: `nothing was echoed` "
            "(`a`, `b`, `c` and 4 more)"
        ),
        "2. **8 trials**",
    ):
        assert expected in first


def test_the_largest_page_fits_a_screen_and_says_what_it_leaves_out():
    text = page(**FULL)
    assert len(text.splitlines()) <= 75
    for expected in (
        "- and 4 further groups",
        "- and 5 further conditions",
        "- and 4 further models",
        "- and 25 further ones",
        "And 2 further comparisons: see `regrade compare`.",
    ):
        assert expected in text


def test_a_failure_is_shown_with_all_that_makes_it_understood():
    text = page(shown=(shown(1),))
    assert "- `s1` on `m`, epoch 1, `data.jsonl:3`: skips `lookup`" in text
    assert "  - `g`: `it said nothing`" in text
    assert "  - turn 1, event 2, tool call `lookup`: `{}`" in text
    assert "  - wanted `this`; said `that`" in text
    assert "  - `regrade show r s1`\n  - `regrade run s.yaml`" in text


def test_what_changed_since_the_baseline_is_listed():
    text = page(comparisons=(comparison(),))
    assert "### `m0` against `base` (15 days old: STALE)" in text
    assert "- 20 samples paired: 0 regressed, 0 improved; left out: 2 changed, 1 added" in text
    assert "- commit changed: `abc` to `def`" in text
    assert "nothing else is known" in page(comparisons=(comparison(changes=()),))


def test_errors_that_are_left_out_are_in_no_count_and_said():
    excluded = numbers(passed=90, trials=103, errors=10, ungraded=3, errors_left_out=True)
    text = page(models=(excluded,))
    assert "- `m0`: 90 of 90 passed" in text
    assert ", 10 errors left out (`errors: exclude`), 3 ungraded" in text
    candidate = ComparedRun(run_id="r-1", model="m", errors_left_out=2)
    text = page(comparisons=(comparison(candidate=candidate),))
    assert "errors are excluded: 0 trials of the baseline and 2 of the candidate" in text


def test_samples_that_only_errored_or_never_ran_are_told_apart():
    pair = SamplePair(
        sample_id="s1",
        baseline_passes=1,
        baseline_trials=1,
        candidate_passes=0,
        candidate_trials=1,
    )
    pairing = Pairing(paired=20, not_run=("x",))
    text = page(comparisons=(comparison(errored=(pair,), pairing=pairing),))
    assert "- 1 sample with nothing but errors on one side, not judged" in text
    assert "0 regressed, 0 improved, 1 with nothing but errors on one side" in text
    assert "left out: 1 not run in the baseline" in text


def test_a_model_that_another_one_answered_for_is_named():
    assert "; answered by `m-2031`" in page(models=(numbers(),))


def test_the_lowest_slices_of_a_model_stand_beside_it():
    low = SliceNumbers(name="tags", value="`a|b`\n", passed=1, trials=4, rate=0.25)
    text = page(models=(numbers(low_slices=(low, low)),))
    (line,) = (one for one in text.splitlines() if "lowest slices" in one)
    assert line.count("1 of 4 (25.0 %)") == 2


def test_of_an_incomplete_run_the_reason_in_the_title_is_not_said_twice():
    text = page(state="incomplete", verdict="INCOMPLETE: one.", reasons=("one", "two"))
    assert "incomplete: two" in text
    assert "incomplete: one" not in text


def test_trials_that_were_not_looked_at_are_counted():
    text = page(failing=5000, looked_at=1000, groups=(group(),), origins={"agent": 1000})
    assert "Where they come from (1,000 of 5,000 looked at): agent 1,000." in text


@pytest.mark.parametrize("preset", ["commonmark", "gfm-like"])
def test_nothing_that_a_model_or_a_tool_wrote_is_markup(preset):
    event = EventAt(turn=0, event=0, type="tool_call", text=HOSTILE, name=HOSTILE)
    bad = BadEvent(origin="agent", words=HOSTILE, event=event)
    told = {"said": HOSTILE, "wanted": HOSTILE, "pointed": HOSTILE, "model": HOSTILE}
    trial = failed_trial(HOSTILE, grader=HOSTILE, evidence=HOSTILE, **told)
    text = page(
        suite=HOSTILE,
        verdict=HOSTILE,
        groups=(group(grader=HOSTILE, words=HOSTILE, samples=(HOSTILE,), evidence=HOSTILE),),
        shown=(shown(trial=trial, bad=bad, place=HOSTILE, commands=(HOSTILE,)),),
        models=(numbers(model=HOSTILE, served=(HOSTILE,)),),
        missed_gates=(MissedGate(text=HOSTILE, value=None),),
        reasons=(HOSTILE,),
        warnings=(HOSTILE,),
        comparisons=(comparison(changes=(Change(what=HOSTILE, before=HOSTILE),)),),
    )
    html = MarkdownIt(preset, {"linkify": False}).render(text)
    assert set(re.findall(r"<(\w+)", html)) <= {"h2", "h3", "p", "ol", "ul", "li", "strong", "code"}
    assert "\x1b" not in text
    outside = re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)
    assert "@" not in outside
    assert "http" not in outside


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"value": 0.25}, "missed: `x >= 0.95` (is 0.25)"),
        ({"value": 0.949999}, "missed: `x >= 0.95` (is 0.949999)"),
        ({"value": 2.772e-05}, "missed: `x >= 0.95` (is 0.00002772)"),
        ({"value": None}, "missed: `x >= 0.95` (nothing measured)"),
        (
            {"value": None, "note": "no interval: it takes two samples that differ"},
            "missed: `x >= 0.95` (no interval: it takes two samples that differ)",
        ),
        (
            {"value": None, "passed": None, "note": "no such samples in this run"},
            "not judged: `x >= 0.95` (no such samples in this run)",
        ),
    ],
)
def test_a_gate_is_missed_or_not_judged_and_why(fields, shown):
    text = page(missed_gates=(MissedGate(text="x >= 0.95", **fields),))
    assert f"- gate {shown}\n" in text


@pytest.mark.parametrize(
    ("passed", "trials", "shown"),
    [
        (1, 100_000, "1 of 100,000 passed, <0.1 %"),
        (99_999, 100_000, "99,999 of 100,000 passed, >99.9 %"),
        (1, 1, "1 of 1 passed, 100.0 %"),
        (0, 1, "0 of 1 passed, 0.0 %"),
    ],
)
def test_only_nothing_is_0_percent_of_a_model_and_only_all_is_100(passed, trials, shown):
    rate = Interval(value=passed / trials)
    model = numbers(passed=passed, trials=trials, pass_rate=rate, errors=0, served=())
    assert f"- `m0`: {shown}\n" in page(models=(model,))


def test_a_model_without_a_graded_trial_says_so():
    rate = Interval(value=None)
    model = numbers(passed=0, trials=2, ungraded=2, errors=0, pass_rate=rate, served=())
    assert "- `m0`: no graded trial, 2 ungraded\n" in page(models=(model,))


def test_where_there_is_one_it_is_spoken_of_as_one():
    low = SliceNumbers(name="tags", value="x", passed=0, trials=1, rate=0.0)
    lost = DivergenceGroup(kind="no_call", words="skips it", tool=None, samples=("a",), of=1)
    compared = comparison(
        divergences=(lost,),
        pairing=Pairing(paired=1),
        changes=(Change(what="commit", after="abc"), Change(what="prompt")),
        baseline=ComparedRun(run_id="base", model="m", age_days=1.2),
    )
    text = page(
        failing=1,
        looked_at=1,
        groups=(group(trials=1),),
        origins={"agent": 1},
        models=(numbers(low_slices=(low,)),),
        comparisons=(compared,),
    )
    for expected in (
        "- 1 of 1 regressed sample first differs: **skips it**",
        "Where it comes from: agent 1.",
        "1. **1 trial**, agent",
        "; lowest slice: `tags: x` 0 of 1 (0.0 %)",
        "### `m0` against `base` (1 day old)",
        "- 1 sample paired: 0 regressed, 0 improved",
        "- commit changed: none to `abc`",
        "- prompt changed\n",
    ):
        assert expected in text


def test_lines_of_the_suite_were_added_or_removed():
    changes = (Change(what=SUITE_LINE, before="a: 1"), Change(what=SUITE_LINE, after="a: 2"))
    told = msgspec.structs.replace(comparison(), changes=changes)
    lines = page(comparisons=(told,)).splitlines()
    assert lines[-2:] == [
        "- line of the suite removed: `a: 1`",
        "- line of the suite added: `a: 2`",
    ]


STEP = NextStep(words="Mend the grader g (g.py:5), then go on with it", command="regrade run `x`")
TOLD = "**Next:** Mend the grader g (g.py:5), then go on with it: `` regrade run `x` ``"


def test_the_next_step_of_an_incomplete_run_comes_first_and_of_others_last():
    lines = page(state="incomplete", next_step=STEP, groups=(group(),)).splitlines()
    assert lines[1:4] == ["", TOLD, ""]
    assert page(next_step=STEP, warnings=("it broke",)).splitlines()[-1] == TOLD
    alone = page(state="incomplete", next_step=NextStep(words="Mend it"))
    assert alone.splitlines()[2] == "**Next:** Mend it"


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        (
            {
                "origin": "provider",
                "grader": None,
                "words": "overloaded: POST http://…: …",
                "evidence": "overloaded: POST http://h: 503",
            },
            "**3 trials**, provider: **overloaded**: `POST http://h: 503` (",
        ),
        (
            {
                "origin": "grader",
                "words": "grader broke: KeyError: … (g.py:5)",
                "evidence": "grader_broke: KeyError: 'x' (g.py:5)",
            },
            "**3 trials**, grader `g`: **grader broke**: `KeyError: 'x' (g.py:5)` (",
        ),
        (
            {"words": "calls `lookup`", "event": EventAt(turn=0, event=1, type="tool_call",
                                                        text='{"a":1}', name="lookup")},
            '**3 trials**, agent, grader `g`: **calls `lookup`**, with `{"a":1}`: ',
        ),
    ],
    ids=["outage", "broken grader", "call"],
)  # fmt: skip
def test_a_group_says_each_thing_once(fields, shown):
    text = page(groups=(group(trials=3, **fields),))
    (line,) = [one for one in text.splitlines() if one.startswith("1. ")]
    assert line.startswith(f"1. {shown}")
