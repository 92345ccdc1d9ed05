"""Whether the scores of one trial meet a gate, as if the trial were a run alone."""

from collections.abc import Mapping

from harness.system.numbers import compares, reaches
from harness.system.weighted_means import weighted_mean
from harness.types.grades import Grade
from harness.types.suites import Gate, GateGroup, GateSpec, WeightedGate


def meets_rule(rule: Gate, grades: Mapping[str, Grade]) -> bool | None:
    """Say whether the grades of a trial meet a rule; None where it asks for skipped ones alone.

    Skipped grades do not count: a group is met by the rest, a weighted mean is that of the rest.
    """
    if isinstance(rule, GateGroup):
        met = [met for one in rule.gates if (met := meets_rule(one, grades)) is not None]
        return (all(met) if rule.needs == "all" else any(met)) if met else None
    value = _single(rule, grades) if isinstance(rule, GateSpec) else _weighted(rule, grades)
    return None if value is None else compares(value, rule.op, rule.value)


def _single(rule: GateSpec, grades: Mapping[str, Grade]) -> float | None:
    return _value(rule, grades.get(rule.metric))


def _weighted(rule: WeightedGate, grades: Mapping[str, Grade]) -> float | None:
    values = {name: _value(rule, grades.get(name)) for name in rule.weights}
    counted = {name: value for name, value in values.items() if value is not None}
    if not counted:
        return None
    return weighted_mean(list(counted.values()), [float(rule.weights[name]) for name in counted])


def _value(rule: GateSpec | WeightedGate, grade: Grade | None) -> float | None:
    if grade is None or grade.score is None:
        return None
    if rule.aggregation != "pass_rate":
        return grade.score
    reached = grade.passed if rule.threshold is None else reaches(grade.score, rule.threshold)
    return float(bool(reached))
