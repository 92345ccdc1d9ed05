from dataclasses import replace
from datetime import date, timedelta

import pytest
from fakes.stored_nights import FIRST, an_outcome, store_night

from harness.loading.quarantine_files import read_quarantine
from harness.running.histories import HistoryOptions, read_history
from harness.running.quarantining import QuarantineOrder, change_quarantine
from harness.storing.baseline_files import Pin, pin_baseline
from harness.types.errors import InputError

TODAY = date(2031, 5, 4)


@pytest.fixture
def nights(tmp_path):
    """Give nights on which s0 and s1 are flaky, and 18 others pass."""
    for number in range(1, 7):
        names = [f"s{n}" for n in range(20)]
        outcomes = [an_outcome(n, n not in {"s0", "s1", "s2"} or number % 2 > 0) for n in names]
        store_night(tmp_path / "nights", number, outcomes)
    return tmp_path / "nights"


def order(nights, **fields):
    file = nights.parent / "quarantine.yaml"
    return QuarantineOrder(today=TODAY, file=file, workspace=nights.parent, **fields)


def test_a_flaky_sample_goes_in_for_fourteen_nights_and_comes_out(nights):
    path = change_quarantine(nights, order(nights, add=("s0",), reason="two answers"))
    (entry,) = read_quarantine(path)
    assert (entry.sample, entry.model, entry.since) == ("s0", "m", TODAY)
    assert (entry.ends, entry.reason) == (date(2031, 5, 18), "two answers")
    assert len(entry.key) == 16
    change_quarantine(nights, order(nights, release=("s0",), add=("s1",)))
    assert [one.sample for one in read_quarantine(path)] == ["s1"]
    assert read_quarantine(path)[0].reason == "3 of 6 trials passed"


def test_a_sample_that_is_in_begins_anew_only_where_it_is_released(nights):
    path = change_quarantine(nights, order(nights, add=("s0",), reason="two answers"))
    later = replace(order(nights, add=("s0", "s1")), today=date(2031, 5, 6))
    with pytest.raises(InputError, match="'s0' is quarantined already, until 2031-05-18"):
        change_quarantine(nights, later)
    assert [(one.since, one.reason) for one in read_quarantine(path)] == [(TODAY, "two answers")]
    change_quarantine(nights, replace(later, release=("s0",)))
    assert [(one.sample, one.since.day) for one in read_quarantine(path)] == [("s0", 6), ("s1", 6)]


def test_a_sample_whose_quarantine_has_ended_may_go_in_again(nights):
    path = change_quarantine(nights, order(nights, add=("s0",)))
    change_quarantine(nights, replace(order(nights, add=("s0",)), today=date(2031, 5, 18)))
    assert [one.since for one in read_quarantine(path)] == [date(2031, 5, 18)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"add": ("s9",)}, "6 trials of 's9' have all passed"),
        ({"add": ("s99",)}, "no sample 's99' has run"),
        ({"release": ("s0",)}, "no entry for 's0'"),
        ({"add": ("s0", "s1", "s2")}, "at most 2 of 20"),
        ({"add": ("s0",), "model": "other"}, "no model 'other' has run; --model m"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(nights, fields, said):
    with pytest.raises(InputError) as caught:
        change_quarantine(nights, order(nights, **fields))
    assert said in str(caught.value)
    assert not (nights.parent / "quarantine.yaml").exists()


def test_the_file_lies_beside_the_suite(nights, tmp_path):
    suite = tmp_path / "suite" / "suite.yaml"
    suite.parent.mkdir()
    suite.write_text("name: nightly", encoding="utf-8")
    wanted = QuarantineOrder(today=TODAY, add=("s0",), workspace=tmp_path)
    with pytest.raises(InputError, match="--quarantine-file"):
        change_quarantine(nights, wanted)
    outcomes = [an_outcome(f"s{n}", True) for n in range(20)]
    store_night(nights, 7, outcomes, suite_file=str(suite))
    assert change_quarantine(nights, wanted) == suite.parent / "quarantine.yaml"


def test_of_several_suites_one_has_to_be_named(nights):
    outcomes = [an_outcome(f"s{n}", True) for n in range(20)]
    store_night(nights, 8, outcomes, suite="second")
    with pytest.raises(InputError, match="--suite nightly"):
        change_quarantine(nights, order(nights, add=("s0",)))
    change_quarantine(nights, order(nights, add=("s0",), suite="nightly"))


def standing(folder, passes):
    """Store nights of three epochs on which sample `x` passes so often, and 19 others do always."""
    for number, passed in enumerate(passes, start=1):
        outcomes = [
            an_outcome(name, name != "x" or epoch < passed, epoch)
            for name in ("x", *(f"s{n}" for n in range(19)))
            for epoch in range(3)
        ]
        store_night(folder / "nights", number, outcomes)
    return folder / "nights"


@pytest.mark.parametrize(
    ("passes", "said"),
    [
        (
            [3] * 6 + [0] * 3,
            "'x' has regressed: 18 of 18 trials passed before night 7, 0 of 9 since",
        ),
        ([3] * 9 + [2, 0], "'x' has regressed: "),
        ([0] * 6 + [3] * 3, "'x' is fixed: 0 of 18 trials passed before night 7, 9 of 9 since"),
    ],
)
def test_a_sample_that_has_changed_is_not_quarantined(tmp_path, passes, said):
    nights = standing(tmp_path, passes)
    with pytest.raises(InputError) as caught:
        change_quarantine(nights, order(nights, add=("x",)))
    assert said in str(caught.value)
    assert "only flaky samples are quarantined" in str(caught.value)
    assert len(caught.value.faults) == 1
    assert not (tmp_path / "quarantine.yaml").exists()


def test_a_regression_that_the_baseline_has_already_is_none(tmp_path):
    nights = standing(tmp_path, [3] * 10 + [1, 0, 1, 2, 0, 1])
    with pytest.raises(InputError, match="has regressed"):
        change_quarantine(nights, order(nights, add=("x",)))
    last = max(path.name for path in nights.iterdir())
    change_quarantine(nights, order(nights, add=("x",), baseline=last))


def test_a_suite_too_small_for_quarantine_says_so_of_one_sample(tmp_path):
    for number in range(1, 4):
        outcomes = [an_outcome(name, name != "x" or number > 1) for name in ("x", "y")]
        store_night(tmp_path / "nights", number, outcomes)
    with pytest.raises(InputError, match="1 sample would be quarantined; at most 0 of 2"):
        change_quarantine(tmp_path / "nights", order(tmp_path / "nights", add=("x",)))


@pytest.mark.parametrize("passes", [[2], [3, 2], [3] * 20 + [2]], ids=["new", "two", "seldom"])
def test_a_sample_that_passes_and_fails_may_go_in_however_seldom(tmp_path, passes):
    nights = standing(tmp_path, passes)
    change_quarantine(nights, order(nights, add=("x",)))


def test_a_sample_that_has_left_the_suite_is_told_from_an_unknown_one(tmp_path):
    nights = standing(tmp_path, [3, 2])
    store_night(nights, 3, [an_outcome(f"s{n}", True, e) for n in range(19) for e in range(3)])
    with pytest.raises(InputError, match="no sample 'x' runs any more"):
        change_quarantine(nights, order(nights, add=("x",)))


def broken_together(folder, *, pinned=True, nights=11, broken=20, seed_flaky=True):
    """Store nights of 80 samples of one epoch, of which 20 fail from night 7 on."""
    for number in range(1, nights + 1):
        outcomes = [an_outcome(f"s{n}", n >= broken or number < 7) for n in range(80)]
        # One that passes and fails by turns, whatever the others do.
        if seed_flaky:
            outcomes[40] = an_outcome("s40", number % 2 == 0)
        run = store_night(folder / "nights", number, outcomes)
        if pinned and number == 4:
            pin_baseline(folder / "nights", "nightly", Pin(run=run.name, set_at=FIRST))
    return folder / "nights"


@pytest.mark.parametrize("last", range(7, 12))
@pytest.mark.parametrize("pinned", [True, False])
def test_a_sample_that_broke_with_others_is_neither_flaky_nor_quarantined(tmp_path, last, pinned):
    nights = broken_together(tmp_path, nights=last, pinned=pinned)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    options = HistoryOptions(now=FIRST + timedelta(days=30), workspace=workspace)
    (model,) = read_history(nights, options).models
    assert {x.standing.sample_id for x in model.samples if x.standing.state == "flaky"} == {"s40"}
    with pytest.raises(InputError, match=r"'s1' (may have|has) regressed: 6 of 6 trials") as caught:
        change_quarantine(nights, order(nights, add=("s1",)))
    assert len(caught.value.faults) == 1
    change_quarantine(nights, order(nights, add=("s40",)))


def test_a_sample_that_failed_once_before_all_broke_hides_no_regression_either(tmp_path):
    nights = broken_together(tmp_path, nights=6)
    for number in range(7, 12):
        store_night(nights, number, [an_outcome(f"s{n}", n >= 20) for n in range(80)])
    for path in sorted(nights.glob("[!.]*/outcomes.jsonl"))[:1]:
        outcomes = [an_outcome(f"s{n}", n != 3) for n in range(80)]
        path.parent.rename(tmp_path / "old")
        store_night(nights, 1, outcomes)
    with pytest.raises(InputError, match="'s3' may have regressed: 5 of 6 trials"):
        change_quarantine(nights, order(nights, add=("s3",)))


def test_where_nothing_else_fell_one_that_failed_lately_may_go_in(tmp_path):
    nights = broken_together(tmp_path, broken=1, seed_flaky=False, pinned=False, nights=8)
    change_quarantine(nights, order(nights, add=("s0",)))
