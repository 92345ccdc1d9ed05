import json
from collections import Counter
from itertools import permutations

import pytest
from fakes.stored_nights import a_manifest, an_outcome, store_night
from fakes.stored_trials import stored_trial

from harness.storing.manifests import write_manifest
from harness.storing.night_outcomes import SampleNight, read_night, whole_outcomes
from harness.storing.trial_log import TrialLog, outcome_line, outcome_of
from harness.types.errors import StoreError
from harness.types.trials import Keys


def write_outcomes(run, outcomes):
    (run / "outcomes.jsonl").write_bytes(b"".join(outcome_line(one, b"") for one in outcomes))


def samples_of(folder):
    """Return the samples of a night, of which the whole outcomes say the same."""
    found = read_night(folder).models["m"]
    whole = list(whole_outcomes(folder))
    assert len({(one.sample_id, one.epoch) for one in whole}) == len(whole)
    passes = Counter(one.sample_id for one in whole if one.passed)
    assert passes == Counter({name: one.passes for name, one in found.items() if one.passes})
    assert {one.sample_id for one in whole} == found.keys()
    return found


def test_trials_are_counted_by_sample_without_reading_the_log(tmp_path):
    outcomes = [
        an_outcome("a", True),
        an_outcome("a", False, 1),
        an_outcome("b", None),
        an_outcome("b", True, 1),
        an_outcome("c", False, status="agent_failure"),
        an_outcome("c", None, 1, status="completed"),
    ]
    found = samples_of(store_night(tmp_path, 1, outcomes))
    counts = {name: (one.passes, one.failures, one.errors) for name, one in found.items()}
    assert counts == {"a": (1, 1, 0), "b": (1, 0, 1), "c": (0, 1, 0)}


def test_the_last_outcome_of_a_trial_counts_and_interrupted_ones_do_not(tmp_path):
    run = store_night(tmp_path, 1, [an_outcome("a", True)])
    cut_off = an_outcome("b", None, status="interrupted")
    outcomes = [an_outcome("a", False), an_outcome("a", True), cut_off]
    write_outcomes(run, outcomes)
    found = samples_of(run)
    assert list(found) == ["a"]
    assert (found["a"].passes, found["a"].failures) == (1, 0)


def test_of_several_outcomes_of_a_trial_the_highest_revision_counts_wherever_it_stands(tmp_path):
    run = store_night(tmp_path, 1, [an_outcome("a", True), an_outcome("b", True)])
    outcomes = [
        an_outcome("a", passed, revision=n) for n, passed in enumerate([False, False, True])
    ]
    for order in permutations([*outcomes, an_outcome("b", True)]):
        write_outcomes(run, order)
        found = samples_of(run)
        assert [(name, one.passes) for name, one in found.items()] == [("a", 1), ("b", 1)]


def test_outcomes_that_were_changed_are_made_from_the_trials(logged):
    summary = {"complete": True, "models": {"m": {"trials": 2, "passed": 1}}}
    (logged / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    path = logged / "outcomes.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    edited = second.replace(b'"passed":false', b'"passed":true')
    assert edited != second
    other = outcome_line(outcome_of(stored_trial("b")), b"")
    for lines in (
        [first, edited],
        [first, other],
        [first, first],
        [first],
        [first, second, b"{}\n"],
    ):
        path.write_bytes(b"".join(lines))
        assert {name: one.passes for name, one in samples_of(logged).items()} == {"a": 1, "b": 0}


def test_trials_that_are_not_planned_any_more_do_not_count(tmp_path):
    run = store_night(tmp_path, 1, [an_outcome("a", True), an_outcome("b", True)])
    left = json.dumps({"sample_id": "b", "model": "m", "epoch": 0})
    (run / "unplanned.jsonl").write_text(left + "\n", encoding="utf-8")
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    summary["models"]["m"] |= {"trials": 1, "passed": 1}
    (run / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    assert list(samples_of(run)) == ["a"]


@pytest.fixture
def logged(tmp_path):
    """Give a run of two trials that was killed before its summary."""
    run = tmp_path / "run"
    run.mkdir()
    write_manifest(run, a_manifest("run", 1))
    with TrialLog(run) as log:
        for name in ("a", "b"):
            trial = stored_trial(name, passed=name == "a", keys=Keys(drive="d", sample="s"))
            log.append(trial, outcome_of(trial))
    return run


def test_a_killed_run_is_read_from_its_trials(logged):
    (logged / "outcomes.jsonl").unlink()
    night = read_night(logged)
    assert night.complete is None
    assert {name: one.passes for name, one in night.models["m"].items()} == {"a": 1, "b": 0}


def test_outcomes_that_are_behind_the_summary_are_made_from_the_trials(logged):
    summary = {"complete": True, "models": {"m": {"trials": 2, "passed": 1}}}
    (logged / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    first = (logged / "outcomes.jsonl").read_bytes().splitlines(keepends=True)[0]
    for left in (first, first + b'{"sample_id":', b"\xff\n", b""):
        (logged / "outcomes.jsonl").write_bytes(left)
        assert set(samples_of(logged)) == {"a", "b"}


def test_what_is_damaged_is_named(tmp_path):
    run = store_night(tmp_path, 1, [an_outcome("a", True)])
    (run / "summary.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="no summary") as caught:
        read_night(run)
    assert caught.value.place == str(run / "summary.json")


def test_nights_are_alike_while_the_agent_is_given_the_same_and_judged_the_same(tmp_path):
    def night(number, **fields):
        judging = fields.pop("judging", None)
        outcomes = [an_outcome("a", True, **fields)]
        return samples_of(store_night(tmp_path, number, outcomes, judging=judging))["a"]

    first = night(1)
    assert first.is_like(night(2))
    assert first.key == night(3).key
    assert not first.is_like(night(4, sample_key="f" * 16))
    assert not first.is_like(night(5, grade_keys={"right": "f" * 16}))
    assert first.is_like(SampleNight(first.given))
    rule = {"graders": {"right": {"role": "required"}}, "scoring": None}
    assert not first.is_like(night(6, judging=rule))


def test_graders_that_only_observe_make_no_difference(tmp_path):
    rule = {"graders": {"right": {"role": "required"}, "seen": {"role": "observed"}}}
    keys = {"right": "a" * 16}
    nights = [
        samples_of(store_night(tmp_path, n, [an_outcome("a", True, grade_keys=of)], judging=rule))
        for n, of in enumerate([keys, keys | {"seen": "b" * 16}, keys | {"seen": "c" * 16}])
    ]
    assert nights[0]["a"].is_like(nights[1]["a"])
    assert nights[1]["a"].is_like(nights[2]["a"])
