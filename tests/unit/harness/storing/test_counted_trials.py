"""Which stored trials count."""

import pytest
from fakes.stored_trials import stored_trial

from harness.storing.counted_trials import TrialName, counted_trials, replaced_trials
from harness.storing.trial_log import encode_line
from harness.storing.unplanned_trials import write_unplanned

CUT_OFF = {"status": "interrupted", "passed": None, "score": None, "grades": {}}


@pytest.mark.parametrize(
    ("lines", "counted"),
    [
        ([("a", {}), ("b", {})], [0, 1]),
        ([("a", {}), ("b", {}), ("a", {})], [1, 2]),
        ([("a", {}), ("a", {"model": "n"}), ("a", {"epoch": 1})], [0, 1, 2]),
        ([("a", CUT_OFF), ("b", {})], [1]),
        ([("a", CUT_OFF), ("b", {}), ("a", {})], [1, 2]),
        ([("a", {}), ("b", {}), ("a", CUT_OFF)], [1]),
        ([("a", {}), ("a", CUT_OFF), ("a", CUT_OFF), ("a", {})], [3]),
        ([], []),
    ],
)
def test_the_last_trial_of_each_name_counts_if_it_has_ended(tmp_path, lines, counted):
    trials = [stored_trial(name, text=str(n), **more) for n, (name, more) in enumerate(lines)]
    (tmp_path / "trials.jsonl").write_bytes(b"".join(map(encode_line, trials)))
    assert list(counted_trials(tmp_path)) == [trials[n] for n in counted]


def test_trials_that_are_not_planned_any_more_do_not_count(tmp_path):
    lines = [stored_trial("a"), stored_trial("b"), stored_trial("b", epoch=1)]
    (tmp_path / "trials.jsonl").write_bytes(b"".join(map(encode_line, lines)))
    assert write_unplanned(tmp_path, [TrialName("b", "m", 0), TrialName("x", "m", 0)]) == 2
    assert [(t.sample_id, t.epoch) for t in counted_trials(tmp_path)] == [("a", 0), ("b", 1)]
    assert write_unplanned(tmp_path, []) == 0
    assert len(list(counted_trials(tmp_path))) == 3
    assert not (tmp_path / "unplanned.jsonl").exists()


def test_trials_that_end_while_they_are_read_count(tmp_path):
    log = tmp_path / "trials.jsonl"
    log.write_bytes(encode_line(stored_trial("a")))
    reading = counted_trials(tmp_path)
    with log.open("ab") as file:
        file.write(encode_line(stored_trial("b")) + encode_line(stored_trial("c", **CUT_OFF)))
    assert [trial.sample_id for trial in reading] == ["a", "b"]


def test_replaced_trials_are_those_with_a_later_line(tmp_path):
    lines = [stored_trial(name) for name in "abacab"]
    (tmp_path / "trials.jsonl").write_bytes(b"".join(map(encode_line, lines)))
    assert replaced_trials(tmp_path) == {0, 1, 2}
