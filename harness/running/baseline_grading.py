"""A baseline graded again by the candidate's graders, where theirs differ; nothing is driven."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.loading.suite_files import load_suite
from harness.loading.vally_parameters import Parameters
from harness.running.compared_sides import ComparedSide
from harness.running.recorded_trials import recorded_run
from harness.running.replays import replay
from harness.running.run_options import RunOptions
from harness.storing.manifests import Manifest
from harness.types.errors import Fault, HarnessError, InputError
from harness.types.suites import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrading:
    """How a baseline may be graded again.

    `suite` is the candidate's, where it is at hand; else it is loaded from `suite_file`, or from
    where the candidate's was. `folder` is for run directories that nobody needs afterwards.
    Graders that ask a language model are only run with `asks_models`.
    """

    folder: Path
    suite: Suite | None = None
    suite_file: Path | None = None
    asks_models: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedBaseline:
    """A baseline as it is compared.

    `regraded` are the graders that differed. `unalike` are samples whose grades still come from
    other graders, by id with the names of these: they cannot be compared. `problem` says why the
    baseline could not be graded again, and is empty where it was or need not be.
    """

    side: ComparedSide
    regraded: tuple[str, ...] = ()
    unalike: Mapping[str, frozenset[str]] = field(default_factory=dict)
    problem: str = ""


async def graded_alike(
    baseline: ComparedSide, candidate: ComparedSide, ids: Collection[str], how: Regrading
) -> GradedBaseline:
    """Return the baseline with grades of the candidate's graders, of the samples in `ids`.

    Raises:
        StoreError: a run cannot be read, or the disk is full.
    """
    unalike = _unalike(baseline, candidate, ids)
    other_rule = _other_rule(baseline.manifest, candidate.manifest)
    if not unalike and not other_rule:
        return GradedBaseline(side=baseline)
    names = sorted(frozenset[str]().union(*unalike.values()))
    try:
        suite = _suite_of(candidate.manifest, how)
        side = await _regraded(baseline, suite, ids, how)
    except HarnessError as error:
        left = unalike or dict.fromkeys(ids, frozenset({"the rule by which a trial passes"}))
        return GradedBaseline(side=baseline, unalike=left, problem=_problem(error))
    observed = {spec.name for spec in suite.graders if spec.role == "observed"}
    still = {name: of for name, of in _unalike(side, candidate, ids).items() if of - observed}
    return GradedBaseline(side=side, regraded=tuple(names), unalike=still)


def _problem(error: HarnessError) -> str:
    return str(error.faults[0]) if isinstance(error, InputError) else error.line


def _other_rule(baseline: Manifest, candidate: Manifest) -> bool:
    one, other = baseline.judging, candidate.judging
    return one is not None and other is not None and one != other


def _suite_of(manifest: Manifest, how: Regrading) -> Suite:
    """Return the suite by which the candidate was graded.

    Raises:
        InputError: it is not there any more, or has changed.
    """
    suite = how.suite
    if suite is None:
        path = how.suite_file or Path(manifest.suite_file or "")
        if not path.is_file():
            raise _unavailable(f"the candidate's suite ({manifest.suite_file}) is not there")
        suite = load_suite(path, Parameters(manifest.parameters))
    if {spec.name: spec.fingerprint for spec in suite.graders} != manifest.grader_keys:
        raise _unavailable("the suite's graders have changed since the candidate was graded")
    return suite


def _unavailable(problem: str) -> InputError:
    hint = "name the suite as it was with --suite"
    return InputError([Fault(file="suite", problem=problem, allowed=hint)])


async def _regraded(
    baseline: ComparedSide, suite: Suite, ids: Collection[str], how: Regrading
) -> ComparedSide:
    recorded = recorded_run(baseline.folder)
    wanted = (
        trial
        for trial in recorded.trials
        if trial.model == baseline.model and trial.sample_id in ids
    )
    recorded = replace(recorded, trials=wanted, models=(baseline.model,))
    options = RunOptions(out=how.folder)
    result = await replay(suite, recorded, options, asks_models=how.asks_models)
    return ComparedSide(result.folder, baseline.model)


def _unalike(
    baseline: ComparedSide, candidate: ComparedSide, ids: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return the samples whose grades come from other graders, with the names of these."""
    suspects = {name for name in ids if _marks_differ(baseline, candidate, name)}
    if not suspects:
        return {}
    made = {
        one.sample_id: one.grade_keys
        for one in candidate.outcomes()
        if one.sample_id in suspects and one.grade_keys
    }
    found: dict[str, frozenset[str]] = {}
    for one in baseline.outcomes():
        if one.sample_id in suspects and one.grade_keys:
            ours, theirs = one.grade_keys.items(), made[one.sample_id].items()
            names = frozenset(name for name, _ in ours ^ theirs)
            if names:
                found[one.sample_id] = found.get(one.sample_id, frozenset()) | names
    return found


def _marks_differ(baseline: ComparedSide, candidate: ComparedSide, name: str) -> bool:
    ours = baseline.marks[baseline.samples[name]] if name in baseline.samples else 0
    theirs = candidate.marks[candidate.samples[name]] if name in candidate.samples else 0
    return bool(ours and theirs and ours != theirs)
