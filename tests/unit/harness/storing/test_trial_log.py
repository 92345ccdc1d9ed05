"""The log of a run."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from harness.storing.counted_trials import replaced_trials
from harness.storing.trial_log import TrialLog, encode_line, outcome_of, read_trials
from harness.types.errors import StoreError
from harness.types.events import AssistantMessage, ToolCall, UserMessage
from harness.types.grades import Grade
from harness.types.trajectories import Step, Trajectory, Turn, Usage
from harness.types.trials import Failure, Keys, Timing, Trial

AT = datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)


def trial(sample_id="a", *, text="hi", passed=True, details=None):
    events = (UserMessage(text="?"), AssistantMessage(text=text))
    return Trial(
        sample_id=sample_id,
        model="m",
        epoch=0,
        status="completed",
        passed=passed,
        score=1.0,
        grades={"g": Grade(score=1.0, passed=passed, details=details or {})},
        trajectory=Trajectory(turns=(Turn(events=events),)),
        attempts=(),
        usage=Usage(input_tokens=3),
        timing=Timing(started_at=AT, target_seconds=0.5),
        error=None,
        keys=Keys(drive="d", sample="s"),
    )


def write(folder, *trials):
    with TrialLog(folder) as log:
        for one in trials:
            log.append(one, outcome_of(one))


def test_what_is_written_is_what_is_read(tmp_path):
    trials = [trial("a"), trial("b", text="nul \0, esc \x1b, sep \u2028, é")]
    write(tmp_path, *trials)
    assert list(read_trials(tmp_path)) == trials


def test_every_trial_is_one_line_and_has_its_outcome(tmp_path):
    write(tmp_path, trial("a"), trial("b", text="two\nlines\u2028"))
    lines = (tmp_path / "trials.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line)["sample_id"] for line in lines[:-1]] == ["a", "b"]
    outcomes = (tmp_path / "outcomes.jsonl").read_text("utf-8").splitlines()
    told = json.loads(outcomes[0])
    assert len(told.pop("seal")) == 16
    assert told == {
        "sample_id": "a",
        "model": "m",
        "epoch": 0,
        "status": "completed",
        "passed": True,
        "score": 1.0,
        "seconds": 0.5,
        "usage": {"input_tokens": 3, "output_tokens": None, "cost_usd": None},
        "grades": {"g": [1.0, True, "graded"]},
        "sample_key": "s",
        "tool_calls": 0,
    }


def test_an_outcome_tells_what_the_trial_did_why_it_failed_and_its_slices():
    calls = tuple(ToolCall(call_id=str(n), name="f", arguments={}) for n in range(3))
    turns = (Turn(events=calls, steps=(Step(), Step())), Turn(steps=(Step(),)))
    made = msgspec.structs.replace(
        trial("a"),
        trajectory=Trajectory(turns=turns),
        error=Failure(code="max_steps", message="all steps are spent"),
        slices={"language": ("de",), "tags": ()},
    )
    outcome = outcome_of(made)
    assert (outcome.steps, outcome.tool_calls, outcome.error_code) == (3, 3, "max_steps")
    assert outcome.slices == made.slices
    assert msgspec.json.decode(encode_line(made), type=Trial) == made


def test_where_no_step_was_recorded_their_number_is_unknown():
    outcome = outcome_of(trial("a"))
    assert (outcome.steps, outcome.tool_calls, outcome.slices) == (None, 0, {})


def test_an_outcome_holds_the_beginnings_of_the_hashes_of_its_trial():
    keys = Keys(drive="sha256:d", sample="sha256:" + "0123456789abcdef" * 4)
    grades = {"g": Grade(score=1.0, key="sha256:" + "f" * 64), "h": Grade(score=0.0)}
    outcome = outcome_of(msgspec.structs.replace(trial("a"), keys=keys, grades=grades))
    assert (outcome.sample_key, outcome.grade_keys) == ("0123456789abcdef", {"g": "f" * 16})


def test_a_trial_is_readable_while_the_run_goes_on(tmp_path):
    with TrialLog(tmp_path) as log:
        log.append(trial("a"), outcome_of(trial("a")))
        assert [one.sample_id for one in read_trials(tmp_path)] == ["a"]


def test_lone_surrogates_and_huge_numbers_are_stored_all_the_same():
    line = encode_line(trial(text="a\ud800b", details={"n": 10**30, "t": (1, 2)}))
    stored = json.loads(line)
    assert stored["trajectory"]["turns"][0]["events"][1]["text"] == "a\ufffdb"
    assert stored["grades"]["g"]["details"] == {"n": 10**30, "t": [1, 2]}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("text", ["plain", "a\ud800b"])
def test_a_line_can_be_read_whatever_numbers_a_grade_tells(number, text):
    line = encode_line(trial(text=text, details={"n": number, "m": [number]}))
    assert msgspec.json.decode(line, type=Trial).grades["g"].details == {"n": None, "m": [None]}


@pytest.mark.parametrize("torn", [b'{"v":1,"sample_id":"b"', b'{"v":1', b"\x00\x00", b'{"a":"\xc3'])
def test_a_torn_last_line_is_dropped_and_said(tmp_path, torn):
    write(tmp_path, trial("a"))
    with (tmp_path / "trials.jsonl").open("ab") as log:
        log.write(torn)
    notes = []
    assert [one.sample_id for one in read_trials(tmp_path, notes.append)] == ["a"]
    assert len(notes) == 1
    assert "trials.jsonl:2: the last line is torn" in notes[0]


@pytest.mark.parametrize("damaged", [b'{"v":1,"sam{"v":1}', b"no json", b'{"v":1}', b"\xff\xfe"])
def test_damage_in_the_middle_names_its_line(tmp_path, damaged):
    write(tmp_path, trial("a"))
    with (tmp_path / "trials.jsonl").open("ab") as log:
        log.write(damaged + b"\n" + encode_line(trial("c")))
    with pytest.raises(StoreError) as caught:
        list(read_trials(tmp_path))
    assert caught.value.place.endswith("trials.jsonl:2")


def test_blank_lines_are_no_trials(tmp_path):
    (tmp_path / "trials.jsonl").write_bytes(b"\n" + encode_line(trial("a")) + b"  \n")
    assert len(list(read_trials(tmp_path))) == 1


def test_a_trial_of_a_later_version_is_refused(tmp_path):
    later = msgspec.structs.replace(trial("a"), v=2)
    (tmp_path / "trials.jsonl").write_bytes(encode_line(later))
    with pytest.raises(StoreError, match="version 2"):
        list(read_trials(tmp_path))


def test_a_trial_without_a_version_is_of_the_first():
    plain = json.loads(encode_line(trial("a")))
    del plain["v"]
    assert msgspec.convert(plain, Trial).v == 1


def test_the_last_trial_of_a_sample_counts(tmp_path):
    write(tmp_path, trial("a"), trial("b"), trial("a"))
    assert replaced_trials(tmp_path) == {0}


def test_a_missing_run_is_an_error_with_its_place(tmp_path):
    with pytest.raises(StoreError, match="cannot read") as caught:
        list(read_trials(tmp_path / "none"))
    assert "none" in caught.value.place


def test_a_full_disk_is_an_error_and_keeps_what_was_stored(tmp_path):
    (tmp_path / "trials.jsonl").symlink_to("/dev/full")
    log = TrialLog(tmp_path)
    with pytest.raises(StoreError, match="No space left"):
        log.append(trial("a"), outcome_of(trial("a")))
    log.close()


def test_trials_that_find_the_disk_full_one_after_another_leave_only_whole_lines(tmp_path):
    program = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_trial_log import TrialLog, StoreError, outcome_of, trial
from pathlib import Path
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with TrialLog(Path({str(tmp_path)!r})) as log:
    for n in range(100):
        try:
            log.append(trial(str(n), text="x" * (n * 37 % 900)), outcome_of(trial(str(n))))
        except StoreError:
            pass
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    notes = []
    assert 10 < len(list(read_trials(tmp_path, notes.append))) < 100
    assert notes == []
