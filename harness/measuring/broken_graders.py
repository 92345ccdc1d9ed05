"""Graders that broke: on how many trials, how first, and whether a verdict hangs on them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from harness.measuring.tally_parts import Part
from harness.system.shown_numbers import counted
from harness.types.grades import RECORDED
from harness.types.summaries import BrokenGrader

_MOST_NAMED = 20
_RAISED = "grader_broke: "


def broken_graders(
    parts: Iterable[Part], observers: Collection[str], told: Mapping[str, str]
) -> Iterator[BrokenGrader]:
    """Return the graders that broke, in the order of the suite; `told` says how each did first.

    `observers` decide nothing.
    """
    parts = tuple(parts)
    for name in dict.fromkeys(name for part in parts for name in part.graders):
        broke = sum(part.graders[name].broke for part in parts if name in part.graders)
        if broke and not name.startswith(RECORDED):
            yield BrokenGrader(
                grader=name,
                trials=broke,
                evidence=told.get(name, ""),
                decides=name not in observers,
            )


def broken_sentences(broken: Sequence[BrokenGrader]) -> Iterator[str]:
    """Say each broken grader in a sentence: on how many trials, and how; twenty at most."""
    yield from map(_sentence, broken[:_MOST_NAMED])
    if (more := len(broken) - _MOST_NAMED) > 0:
        yield f"{counted(more, 'further grader')} broke"


def _sentence(one: BrokenGrader) -> str:
    who = f"the {'' if one.decides else 'observing '}grader {one.grader}"
    trials, said = counted(one.trials, "trial"), one.evidence
    if not said or said.startswith(_RAISED):
        how = said.removeprefix(_RAISED)
        return f"{who} broke on {trials}{f': {how}' if how else ''}"
    return f"{who} could not grade {trials}: {said}"
