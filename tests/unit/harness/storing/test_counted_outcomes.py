"""The outcomes that count, whatever has become of the file that holds them."""

import pytest
from fakes.explained_runs import store_run
from fakes.stored_trials import stored_trial

from harness.storing.counted_outcomes import CountedOutcomes, FoundTrials
from harness.storing.trial_log import encode_line
from harness.types.errors import StoreError
from harness.types.trials import INTERRUPTED

TRIALS = [
    stored_trial("b", epoch=1, passed=False),
    stored_trial("a", passed=False),
    stored_trial("b", passed=True),
    stored_trial("a", passed=True, revision=1),
    stored_trial("c", passed=None, status=INTERRUPTED),
]
EXPECTED = [("a", 0, True), ("b", 0, True), ("b", 1, False)]


def read(run):
    return [(one.sample_id, one.epoch, one.passed) for _, one in CountedOutcomes(run)]


def reverse(path):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[::-1]))


@pytest.mark.parametrize("moved", [(), ("trials",), ("outcomes",), ("trials", "outcomes")])
def test_the_order_of_the_lines_of_either_file_changes_nothing(tmp_path, moved):
    run = store_run(tmp_path / "run", TRIALS)
    for name in moved:
        reverse(run / f"{name}.jsonl")
    outcomes = CountedOutcomes(run)
    assert read(run) == EXPECTED
    assert len(outcomes) == 3
    found = list(outcomes)
    trials = FoundTrials(run, [index for index, _ in found])
    for index, outcome in found:
        trial = trials.read(index)
        assert (trial.sample_id, trial.epoch, trial.passed) == (
            outcome.sample_id,
            outcome.epoch,
            outcome.passed,
        )


@pytest.mark.parametrize("text", [b"", b'{"sample_id":"a"}\n', b"\xff\n"])
def test_outcomes_that_are_not_those_of_the_trials_are_made_from_them(tmp_path, text):
    run = store_run(tmp_path / "run", TRIALS)
    (run / "outcomes.jsonl").write_bytes(text)
    assert read(run) == EXPECTED
    assert (run / "outcomes.jsonl").read_bytes() == text


def test_an_edited_outcome_is_not_believed(tmp_path):
    run = store_run(tmp_path / "run", TRIALS)
    path = run / "outcomes.jsonl"
    edited = path.read_bytes().replace(b'"passed":false', b'"passed":true')
    assert edited != path.read_bytes()
    path.write_bytes(edited)
    assert read(run) == EXPECTED


def test_a_trial_of_a_later_version_is_refused(tmp_path):
    run = store_run(tmp_path / "run", [])
    (run / "trials.jsonl").write_bytes(encode_line(stored_trial("a", v=2)))
    with pytest.raises(StoreError, match="version 2"):
        CountedOutcomes(run)


def test_what_is_no_trial_is_named_with_its_line(tmp_path):
    run = store_run(tmp_path / "run", TRIALS)
    head = b'{"sample_id":"z","model":"m","epoch":0,"status":"completed"}\n'
    log = run / "trials.jsonl"
    log.write_bytes(b"\n" + head + log.read_bytes())
    with pytest.raises(StoreError) as caught:
        list(CountedOutcomes(run))
    assert caught.value.place.endswith("trials.jsonl:2")
