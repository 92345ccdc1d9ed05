from datetime import date, timedelta

import pytest
from fakes.stored_nights import FIRST

from harness.reports.history_text import history_text
from harness.types.nights import (
    ExpectedFlips,
    History,
    LeftOut,
    ModelNights,
    Night,
    NightOfChange,
    QuarantineState,
    SampleChange,
    SampleNow,
)
from harness.types.sample_states import SampleStanding
from harness.types.summaries import Interval
from harness.types.verdicts import SuiteVerdict

TODAY = date(2031, 2, 13)


def a_night(number, **fields):
    made = {
        "number": number,
        "run_id": f"run-{number}",
        "started_at": FIRST + timedelta(days=number),
        "samples": 20,
        "trials": 60,
        "passed": 57,
        "errors": 0,
        "complete": True,
        "rate": Interval(value=0.95, low=0.8, high=0.99),
    }
    return Night(**{**made, **fields})


def now(sample_id, state, **fields):
    standing = SampleStanding(
        sample_id=sample_id,
        state=state,
        passes=9,
        trials=10,
        passes_tonight=0,
        trials_tonight=3,
        p_fewer=0.1,
        p_more=0.9,
        adjusted_p_fewer=0.1,
        adjusted_p_more=0.9,
        disagreement=0.2,
        low=0.5,
        high=0.9,
        mixed=0.9,
    )
    return SampleNow(standing=standing, **fields)


TURN = NightOfChange(
    night=2,
    run_id="run-2",
    started_at=FIRST + timedelta(days=2),
    fell=True,
    samples=(SampleChange(sample_id="a", before=(9, 9), after=(0, 3), bayes_factor=99.0),),
    changes=("target",),
)


def shown(**fields):
    made = {
        "suite": "nightly",
        "model": "m",
        "nights": (a_night(1), a_night(2, errors=2, complete=False)),
        "counts": {"stable_pass": 17, "stable_fail": 1, "regressed": 1, "flaky": 1},
    }
    whole = {name: fields.pop(name) for name in ("quarantines", "left_out") if name in fields}
    model = ModelNights(**{**made, **fields})
    return history_text(History(folder="runs", models=(model,), **whole), TODAY)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "nightly on m: 2 nights, 2031-02-04 to 2031-02-05"),
        ({}, ("     2  2031-02-05 02:00   95.0 % (57 of 60, 95 % interval 80.0 to 99.0 %)  "
             "[2 errors; incomplete]")),
        ({}, "  steady: 18 samples, 1 of them failing"),
        ({}, "  no baseline is pinned: `regrade baseline set RUN` pins one"),
        (
            {
                "baseline": "run-1",
                "baseline_days": 15.2,
                "verdict": SuiteVerdict(
                    verdict="regressed", question="fixed_suite", stage="suspected", reason="worse"
                ),
            },
            "  REGRESSED (suspected) against the baseline run-1 (15 days old: STALE): worse",
        ),
        (
            {"baseline": "run-2", "baseline_days": 3.0},
            "  against the baseline run-2 (3 days old): no later night",
        ),
        ({"turns": (TURN,)},
         "  worse since night 2 (2031-02-05, run-2; changed: target): 1 sample: a"),
        ({"turns": (TURN,), "samples": (now("a", "regressed", since=2),)},
         "    a (9 of 9 passed before night 2, 0 of 3 since, tonight 0 of 3)"),
        ({"samples": (now("a", "flaky"),)},
         "    a (9 of 13 passed, two runs disagree 20 %)"),
        ({"samples": (now("a", "flaky", quarantined_until=date(2031, 2, 18)),)},
         "    a (9 of 13 passed, two runs disagree 20 %, quarantined, ends in 5 nights)"),
        ({"samples": tuple(now(f"s{n}", "new", since=2) for n in range(12))},
         ("  new (fewer than 5 earlier trials): 12 samples: "
         "s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 2 more")),
        ({"whole": TURN},
         ("  the samples together pass less often since night 2 "
         "(2031-02-05, run-2; changed: target)")),
        ({"flips": ExpectedFlips(samples=20, fell=3, expected=1.26, chance=0.123)},
         ("  3 of 20 samples did worse than the night before; with nothing changed it is 1.3 on "
         "average, and 3 or more with a chance of 12.3 %")),
        ({"flips": ExpectedFlips(samples=20, fell=0, expected=0.02, chance=1.0)},
         ("  none of 20 samples did worse than the night before; with nothing changed it is less "
         "than 0.1 on average")),
        ({"flips": ExpectedFlips(samples=1, fell=1, expected=0.0, chance=0.0)},
         ("  1 of 1 sample did worse than the night before; with nothing changed it is 0.0 on "
         "average, and 1 with a chance of <0.1 %")),
        ({"flips": ExpectedFlips(samples=20, fell=1, expected=9.0, chance=0.9999)},
         ("  1 of 20 samples did worse than the night before; with nothing changed it is 9.0 on "
         "average, and 1 or more with a chance of >99.9 %")),
        ({"counts": {"stable_pass": 1}}, "  steady: 1 sample, not failing"),
        ({"counts": {"stable_fail": 1}}, "  steady: 1 sample, failing"),
        ({"counts": {"stable_pass": 2}}, "  steady: 2 samples, none of them failing"),
        ({"nights": (a_night(1, errors=1, passed=2999, trials=3000,
                             rate=Interval(value=0.99967, low=0.998, high=0.99995)),)},
         ("     1  2031-02-04 02:00  >99.9 % (2,999 of 3,000, 95 % interval 99.8 to >99.9 %)  "
         "[1 error]")),
        ({"baseline": "run-2", "baseline_days": 1.4},
         "  against the baseline run-2 (1 day old): no later night"),
        ({"baseline": "run-2", "baseline_days": 0.3},
         "  against the baseline run-2 (less than a day old): no later night"),
        ({"warnings": ("the last night is not complete",)},
         "  warning: the last night is not complete"),
        ({"left_out": (LeftOut(run="run-3", reason="it holds no trial"),)},
         "left out: run-3: it holds no trial"),
        (
            {
                "quarantines": (
                    QuarantineState(suite="nightly", file="q.yaml", limit=2, in_force=("a",)),
                )
            },
            "nightly: 1 quarantined (limit 2): a [q.yaml]",
        ),
    ],
)  # fmt: skip
def test_a_history_says_in_words_what_it_holds(fields, line):
    assert line in shown(**dict(fields)).splitlines()


def test_more_samples_than_fit_are_counted():
    text = shown(samples=tuple(now(f"s{n}", "flaky") for n in range(13)))
    assert "and 3 more (--json has them all)" in text


def test_ids_and_names_cannot_control_the_terminal():
    evil = "a\x1b[31m\u202e\nb"
    text = shown(
        suite=evil,
        model=evil,
        samples=(now(evil, "flaky"),),
        warnings=(evil,),
        left_out=(LeftOut(run=evil, reason=evil),),
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("\\n") == 6
