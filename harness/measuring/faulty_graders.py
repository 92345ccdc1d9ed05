"""Graders that cannot work, such as one with an invalid pattern, and what they decide."""

from collections.abc import Iterable, Iterator, Mapping

from harness.types.suites import Gate, GateGroup, GateSpec, GraderSpec, Suite, WeightedGate

TRIAL = "trial"
_MOST_NAMED = 20
_BEGIN, _END = "the grader ", " cannot work: "


def leaves(gate: Gate) -> Iterator[GateSpec | WeightedGate]:
    """Return the gates that a gate is made of; those that are no group are made of themselves."""
    if isinstance(gate, GateGroup):
        for one in gate.gates:
            yield from leaves(one)
    else:
        yield gate


def metrics_of(gate: GateSpec | WeightedGate) -> tuple[str, ...]:
    """Return the metrics that a gate is about."""
    return (gate.metric,) if isinstance(gate, GateSpec) else tuple(gate.weights)


def cannot_work(name: str) -> str:
    """Return how the reason begins by which a run is incomplete for a grader."""
    return f"{_BEGIN}{name}{_END}"


def faulty_names(reasons: Iterable[str]) -> list[str]:
    """Return the graders that cannot work, from the reasons by which a run is incomplete."""
    return [
        name
        for reason in reasons
        if reason.startswith(_BEGIN)
        for name, end, _ in (reason.removeprefix(_BEGIN).partition(_END),)
        if end
    ]


class FaultyGraders:
    """The graders of a run that cannot work, by name, and whether they decide.

    `further` are those of single samples.
    """

    def __init__(self, suite: Suite, further: Iterable[GraderSpec] = ()) -> None:
        rule = suite.scoring.rule
        gates = (*suite.gates, *([rule] if rule else []))
        gated = {name for gate in gates for one in leaves(gate) for name in metrics_of(one)}
        faulty = {spec.name: spec for spec in (*suite.graders, *further) if spec.fault}
        self._deciding: Mapping[str, str] = {
            name: spec.fault for name, spec in faulty.items() if spec.decides or name in gated
        }
        judges_trials = any(spec.decides for spec in faulty.values())
        self.unmet: frozenset[str] = frozenset(
            [*self._deciding, *([TRIAL] if judges_trials else [])]
        )
        """The metrics on which no gate is met."""

    def reasons(self) -> list[str]:
        """Say why the run cannot be judged: one reason a grader that decides, twenty at most."""
        said = [f"{cannot_work(name)}{fault}" for name, fault in self._deciding.items()]
        more = len(said) - _MOST_NAMED
        return [*said[:_MOST_NAMED], *([f"{more} further graders cannot work"] if more > 0 else [])]
