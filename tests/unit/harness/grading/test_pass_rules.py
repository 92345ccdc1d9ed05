"""A gate asked of the grades of one trial."""

import pytest

from harness.grading.pass_rules import meets_rule
from harness.grading.trial_scores import judge_trial
from harness.types.grades import Grade
from harness.types.suites import GateGroup, GateSpec, GraderSpec, Scoring, WeightedGate


def leaf(metric, op="gte", value=0.5, **more):
    return GateSpec(metric=metric, op=op, value=value, **more)


GRADES = {
    "good": Grade(score=0.9, passed=False),
    "bad": Grade(score=0.2, passed=False),
    "skipped": Grade(status="skipped"),
}


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        (leaf("good"), True),
        (leaf("bad"), False),
        (leaf("bad", "lte", 0.3), True),
        (leaf("skipped"), None),
        (leaf("absent"), None),
        (leaf("good", aggregation="pass_rate", threshold=0.8, value=1), True),
        (leaf("good", aggregation="pass_rate", value=0.1), False),
        (leaf("bad", "lte", 0.05, aggregation="pass_rate", threshold=0.8), True),
        (leaf("good", aggregation="p95", value=0.9), True),
        (WeightedGate(weights={"good": 3, "bad": 1}, op="gte", value=0.7), True),
        (WeightedGate(weights={"good": 1, "bad": 3}, op="gte", value=0.7), False),
        (WeightedGate(weights={"good": 1, "skipped": 9}, op="gte", value=0.9), True),
        (WeightedGate(weights={"skipped": 1}, op="gte", value=0.9), None),
        (GateGroup(needs="all", gates=(leaf("good"), leaf("bad"))), False),
        (GateGroup(needs="any", gates=(leaf("good"), leaf("bad"))), True),
        (GateGroup(needs="all", gates=(leaf("good"), leaf("skipped"))), True),
        (GateGroup(needs="any", gates=(leaf("skipped"),)), None),
    ],
)
def test_a_trial_meets_a_rule_as_a_run_would_of_itself(rule, met):
    assert meets_rule(rule, GRADES) is met


def spec(name, role="scored"):
    return GraderSpec(name=name, kind="x", grader=None, role=role, fingerprint="f")


@pytest.mark.parametrize(
    ("rule", "specs", "passed"),
    [
        (leaf("good"), [spec("good")], True),
        (leaf("bad"), [spec("good"), spec("bad")], False),
        (leaf("good"), [spec("good"), spec("bad", "required")], False),
        (leaf("good"), [spec("good"), spec("bad", "observed")], True),
        (leaf("skipped"), [spec("good"), spec("skipped")], False),
    ],
)
def test_a_rule_decides_beside_the_graders_that_are_required(rule, specs, passed):
    found, score = judge_trial(specs, GRADES, Scoring(rule=rule))
    assert found is passed
    assert score is not None


def test_a_threshold_and_a_rule_have_to_be_met_both():
    rule = leaf("good")
    scoring = Scoring(threshold=0.95, rule=rule)
    assert judge_trial([spec("good")], GRADES, scoring) == (False, 0.9)
