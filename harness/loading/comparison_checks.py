"""What a suite says of comparing its runs, held against what a run of it measures."""

import math
from collections.abc import Collection

from harness.documents.nodes import Location
from harness.loading.gate_checks import is_metric
from harness.loading.grader_entries import TRIAL_METRIC
from harness.loading.load_context import LoadContext
from harness.system.suggestions import suggest
from harness.types.suites import ComparisonRule
from harness.types.summaries import AMOUNTS


def check_comparison(
    rule: ComparisonRule | None, suite: Location, context: LoadContext, graders: Collection[str]
) -> None:
    """Report metrics that no run of the suite has, and margins that are none."""
    at = suite.child("comparison")
    if rule is None or at is None:
        return
    known = sorted({TRIAL_METRIC, *AMOUNTS, *graders})
    places = {"metrics": rule.metrics, "margins": tuple(rule.margins)}
    for key, names in places.items():
        for name in names:
            if not is_metric(name, known):
                place = at.child(key) or at
                context.findings.fault(place, f"no metric {name!r}", suggest(name, known))
    for name, margin in rule.margins.items():
        is_fraction = name not in AMOUNTS or name in graders
        if not 0 < margin < (1 if is_fraction else math.inf):
            allowed = "a fraction such as 0.05 (5 points)" if is_fraction else "a number above 0"
            problem = f"the margin of {name} is {margin:g}"
            context.findings.fault(at.child("margins") or at, problem, allowed)
