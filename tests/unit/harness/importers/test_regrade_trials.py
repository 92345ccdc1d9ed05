"""Our own trials as records."""

import msgspec
import pytest
from fakes.factories import make_sample, make_trajectory

from harness.importers.regrade_trials import read_trial_record
from harness.running.foreign_trials import foreign_trial, with_sample
from harness.types.imports import Imported
from harness.types.trajectories import Usage
from harness.types.trials import Failure

RECORD = Imported(
    place="r:1",
    trajectory=make_trajectory(),
    sample_id="s1",
    model="m",
    epoch=4,
    status="agent_failure",
    failure=Failure(code="max_steps", message="too many"),
    seconds=1.5,
    outcomes={"resolved": True, "exit": "submitted", "reward": 7.0},
    usage=Usage(input_tokens=3),
    snapshots={"database": {"rows": 1}},
    skipped="no time",
)


def stored(record, sample=None):
    sample = sample or make_sample(id=record.sample_id)
    trial = foreign_trial(record, sample, model=record.model, epoch=record.epoch)
    return msgspec.to_builtins(with_sample(trial, sample))


def test_what_was_converted_is_read_as_it_was():
    sample = make_sample(id="s1", ground_truth="K41", metadata={"level": 2})
    read = read_trial_record(stored(RECORD, sample), "r:1")
    assert read == msgspec.structs.replace(RECORD, sample=sample)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"v": 2}, "r:1: the trial is of version 2; this Regrade reads up to 1"),
        ({"epoch": "first"}, "r:1: the record is no trial: Expected `int`"),
        (
            {"trajectory": {"turns": [{"events": [{"type": "song"}]}]}},
            "r:1: the record is no trial",
        ),
    ],
)
def test_a_record_that_is_no_trial_says_where_and_why(changed, said):
    with pytest.raises(ValueError, match=r"^r:1: ") as caught:
        read_trial_record(stored(RECORD) | changed, "r:1")
    assert str(caught.value).startswith(said)
