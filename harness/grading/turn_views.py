"""What a grader is shown: the whole conversation, or one turn that was cut out of it."""

from typing import NamedTuple

import msgspec

from harness.types.grades import Ref
from harness.types.samples import Sample
from harness.types.trajectories import Trajectory


class View(NamedTuple):
    """A conversation and its sample as a grader sees them.

    `turn` is the index of the turn that was cut out, None for the whole conversation; the
    trajectory then holds that turn alone.
    """

    sample: Sample
    trajectory: Trajectory
    turn: int | None = None

    @property
    def is_empty(self) -> bool:
        """Say that nothing happened at all."""
        turns = self.trajectory.turns
        return not turns or (not turns[0].events and not any(turn.events for turn in turns))


def cut(sample: Sample, trajectory: Trajectory, turn: int) -> View | None:
    """Cut out one turn: 0-based, negative from the end; None where it was never reached.

    Of a sample with a prompt and a ground truth a turn, the view has those of the turn.
    """
    count = len(trajectory.turns)
    index = turn if turn >= 0 else count + turn
    if not 0 <= index < count:
        return None
    one = Trajectory(turns=(trajectory.turns[index],))
    return View(_narrowed(sample, index), one, index)


def graded_by_turn(sample: Sample) -> bool:
    """Say whether a sample has a prompt and a ground truth a turn."""
    return isinstance(sample.input, tuple) and isinstance(sample.ground_truth, tuple)


def never_reached(turn: int, trajectory: Trajectory) -> str:
    """Say that a conversation has no such turn."""
    count = len(trajectory.turns)
    return f"turn {turn} was never reached: the conversation has {count} turn(s)"


def moved_back(refs: tuple[Ref, ...], turn: int) -> tuple[Ref, ...]:
    """Turn refs into one cut out turn into refs into the whole conversation."""
    return tuple(
        Ref(turn=ref.turn + turn, event=ref.event, start=ref.start, end=ref.end) for ref in refs
    )


def _narrowed(sample: Sample, index: int) -> Sample:
    prompts, truths = sample.input, sample.ground_truth
    if not isinstance(prompts, tuple) or not isinstance(truths, tuple):
        return sample
    if index >= min(len(prompts), len(truths)):
        return sample
    return msgspec.structs.replace(sample, input=prompts[index], ground_truth=truths[index])
