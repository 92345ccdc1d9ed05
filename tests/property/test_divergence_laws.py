"""Laws of where two trajectories part: on any trajectories at all."""

import msgspec
from fakes.stored_trials import stored_trial
from hypothesis import given, reject
from hypothesis import strategies as st
from property.strategies import trajectories

from harness.measuring.divergence_words import divergence_groups
from harness.measuring.divergences import first_divergence
from harness.storing.trial_log import encode_line
from harness.types.trials import Failure, Trial

endings = st.sampled_from(["completed", "agent_failure", "target_error"])


@st.composite
def trials(draw):
    status = draw(endings)
    error = None if status == "completed" else Failure(code="turn_timeout", message="late")
    trial = stored_trial(trajectory=draw(trajectories), status=status, error=error)
    # What is compared was read from a log; numbers that are not finite do not come that far.
    try:
        return msgspec.json.decode(encode_line(trial), type=Trial)
    except msgspec.DecodeError:
        reject()


@given(trials())
def test_a_trial_does_not_part_from_itself(trial):
    assert first_divergence(trial, trial) is None


@given(trials(), trials())
def test_any_two_trials_part_in_words_that_can_be_stored_or_not_at_all(one, other):
    found = first_divergence(one, other)
    if found is None:
        return
    assert found.words
    for side, trial in ((found.baseline, one), (found.candidate, other)):
        if side is not None:
            trial.trajectory.turns[side.turn].events[side.event]
            assert len(side.text) <= 300


@given(trials(), trials())
def test_what_parts_one_way_parts_the_other_way(one, other):
    assert (first_divergence(one, other) is None) == (first_divergence(other, one) is None)


@given(st.lists(st.tuples(trials(), trials()), max_size=6))
def test_every_divergence_is_in_one_group(pairs):
    found = {}
    for index, (one, other) in enumerate(pairs):
        divergence = first_divergence(one, other)
        if divergence is not None:
            found[str(index)] = divergence
    groups = divergence_groups(found, len(pairs))
    assert sorted(name for group in groups for name in group.samples) == sorted(found)
    assert [len(group.samples) for group in groups] == sorted(
        (len(group.samples) for group in groups), reverse=True
    )
    assert msgspec.to_builtins(groups) is not None
