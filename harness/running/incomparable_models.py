"""What is said of runs that have no model in common."""

from pathlib import Path

from harness.measuring.suite_verdicts import invalid
from harness.running.compared_models import PairedModels
from harness.storing.manifests import read_manifest
from harness.types.comparisons import ComparedRun, Comparison, Pairing
from harness.types.verdicts import Question


def incomparable(
    baseline: Path, candidate: Path, paired: PairedModels, question: Question
) -> tuple[Comparison, ...]:
    """Return a comparison for each model of the candidate: none can be made.

    Raises:
        StoreError: a run cannot be read.
    """
    before, after = read_manifest(baseline), read_manifest(candidate)
    models = ", ".join(paired.gone)
    reason = (
        f"no model is in both runs: the baseline has {models}, the candidate "
        f"{', '.join(paired.new)}; name one of each as RUN::MODEL"
    )
    return tuple(
        Comparison(
            suite=after.suite,
            baseline=ComparedRun(run_id=before.run_id, model=models, started_at=before.started_at),
            candidate=ComparedRun(run_id=after.run_id, model=model, started_at=after.started_at),
            pairing=Pairing(paired=0),
            verdict=invalid(reason, question),
        )
        for model in paired.new
    )
