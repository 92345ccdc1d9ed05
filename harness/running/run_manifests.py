"""The manifest of a run or replay that begins."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from harness.documents.yaml_secrets import redact_yaml
from harness.loading.datasets import Dataset
from harness.loading.selections import effective
from harness.running.run_options import ComparedWith, RunOptions
from harness.storing.baseline_files import EXPORTED
from harness.storing.manifests import Manifest, environment_of
from harness.storing.run_folders import TRIALS
from harness.system.hashing import sha256_of
from harness.system.redaction import known_secrets, redact
from harness.system.secret_values import Secrets
from harness.types.suites import Suite

_TOLD = (
    "suite",
    "suite_file",
    "dataset_file",
    "dataset_provenance",
    "selection",
    "narrowed",
    "compared_with",
    "host",
)
"""Fields that hold what somebody wrote, and is looked at for secrets besides text and command."""


def make_manifest(
    suite: Suite, options: RunOptions, dataset: Dataset, *, run_id: str, started_at: datetime
) -> Manifest:
    """Say what is run, before its first trial; `options.models` are the models of the run."""
    manifest = Manifest(
        run_id=run_id,
        suite=suite.name,
        suite_file=str(suite.source.resolve()) if suite.source else None,
        suite_text=redact_yaml(suite.text, suite.secrets),
        suite_sha256=sha256_of(suite.text),
        dataset_file=suite.dataset.text if suite.dataset else None,
        dataset_sha256=dataset.sha256,
        dataset_provenance=dict(dataset.provenance) if dataset.provenance else None,
        samples=dataset.count,
        planned=dataset.count * len(options.models) * suite.epochs,
        models=options.models,
        epochs=suite.epochs,
        drive_key=suite.target.fingerprint if suite.target else None,
        grader_keys={spec.name: spec.fingerprint for spec in suite.graders},
        selection=asdict(effective(options.selection, suite)),
        narrowed=_narrowed(options.narrowed, dataset),
        limits=asdict(suite.limits),
        errors=suite.errors,
        started_at=started_at,
        command=tuple(redact(word, suite.secrets) for word in options.command),
        target_file=str(options.target_file.resolve()) if options.target_file else None,
        parameters=tuple(redact(word, suite.secrets) for word in options.parameters),
        judging=judging_of(suite),
        comparison=asdict(suite.comparison),
        compared_with=_compared_with(options.compared_with),
        **environment_of(suite),
    )
    return _without_secrets(manifest, known_secrets(suite.secrets))


def _narrowed(narrowed: Mapping[str, Any], dataset: Dataset) -> dict[str, Any]:
    """Return what options left of the suite; a limit that the samples fall short of left all."""
    limit = narrowed.get("limit")
    is_short = limit is not None and dataset.count < limit
    return {name: one for name, one in narrowed.items() if not (is_short and name == "limit")}


def _compared_with(planned: ComparedWith | None) -> dict[str, Any] | None:
    """Return what a run is compared with, found again wherever it is gone on with."""
    if planned is None:
        return None
    run, mark, model = planned.baseline.partition("::")
    path = Path(run)
    is_path = path.suffix == EXPORTED or path.is_file() or (path / TRIALS).is_file()
    place = str(path.resolve()) if is_path else run
    return {**asdict(planned), "baseline": f"{place}{mark}{model}"}


def judging_of(suite: Suite) -> dict[str, Any]:
    """Return the rule by which a trial passes, as JSON."""
    graders = {
        spec.name: {"role": spec.role, "weight": spec.weight, "op": spec.op, "at": spec.threshold}
        for spec in suite.graders
    }
    rule = msgspec.to_builtins(suite.scoring)
    made: dict[str, Any] = {"graders": graders, "scoring": rule}
    return made


def observed_graders(manifest: Manifest) -> frozenset[str]:
    """Return the graders of a run that decide no trial, by name."""
    graders = (manifest.judging or {}).get("graders", {})
    return frozenset(name for name, rule in graders.items() if rule.get("role") == "observed")


def _without_secrets(manifest: Manifest, secrets: Secrets) -> Manifest:
    """Hide secrets in paths, ids and the like; names of models and graders stay."""
    told = {name: getattr(manifest, name) for name in _TOLD}
    return msgspec.structs.replace(manifest, **secrets.hide_json(told)) if secrets else manifest
