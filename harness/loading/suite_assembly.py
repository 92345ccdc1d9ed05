"""The parts of a suite put together from its nodes, each as far as it could be read."""

from collections.abc import Mapping
from dataclasses import replace

from harness.loading.binding import Manner, bind
from harness.loading.custom_functions import check_asked
from harness.loading.environment import BadReference
from harness.loading.gate_entries import bind_gates
from harness.loading.grader_entries import Entries, GraderEntry, bind_graders
from harness.loading.inline_samples import read_inline_samples
from harness.loading.nodes import Node, Spot, Table, describe, is_null, text_of
from harness.loading.shapes import option_hints
from harness.loading.suite_fixtures import collect_fixtures
from harness.loading.suite_heads import ScoringEntry, SuiteHead
from harness.loading.target_entry import TargetHead, bind_target, check_target
from harness.loading.workbench import Workbench
from harness.system.suggestions import find_close, suggest
from harness.types.code import Fixture, SuitePath
from harness.types.grades import Role
from harness.types.suites import GraderSpec, Limits, Retries, Scoring, Suite, TargetSpec

PARTS = frozenset({"samples", "target", "graders", "gates"})
DATASET_SUFFIXES = (".jsonl", ".csv")


def assemble(node: Node, bench: Workbench) -> Suite | None:
    """Put a suite together; faults go to the findings, and what is broken is left out."""
    spot = Spot(node)
    if not isinstance(spot.node, Table):
        bench.findings.fault(
            spot, f"found {describe(spot.node)}", "a suite is a mapping of keys and values"
        )
        return None
    head = bind(SuiteHead, spot.without(*PARTS), bench, manner=_manner(bench, spot))
    target = _target(spot, bench)
    role: Role = "required" if _threshold(spot) is None else "scored"
    entries = _graders(spot, bench, role)
    samples = read_inline_samples(spot, bench, role=role, entries=entries)
    scoring = head.scoring if head else ScoringEntry()
    specs = _weigh(spot, entries, scoring, bench)
    models = target.models if target else None
    gates = spot.child("gates")
    bound = bind_gates(gates, bench, metrics=entries.names, models=models) if gates else ()
    fixtures = _fixtures(entries, bench)
    if target:
        check_target(target.target, spot, bench, fixtures)
    return Suite(
        name=head.name if head else "",
        description=head.description if head else "",
        dataset=_dataset(spot, head, bench),
        samples=samples,
        target=target,
        graders=specs,
        fixtures=fixtures,
        epochs=head.epochs if head else 1,
        retries=head.retries if head else Retries(),
        limits=head.limits if head else Limits(),
        scoring=Scoring(threshold=scoring.threshold),
        gates=bound,
    )


def _manner(bench: Workbench, spot: Spot) -> Manner:
    """Say where keys belong that stand at the top by mistake."""
    elsewhere = {
        **dict.fromkeys(option_hints(GraderEntry), "in an entry of `graders`"),
        **dict.fromkeys(option_hints(TargetHead), "under `target`"),
    }
    target = spot.child("target")
    kind = bench.plugins.targets.get(target.text("kind") or "") if target else None
    if kind is not None:
        elsewhere |= dict.fromkeys(option_hints(kind), "under `target`")
    elsewhere |= dict.fromkeys(option_hints(Limits), "under `limits`")
    elsewhere |= dict.fromkeys(option_hints(Retries), "under `retries`")
    elsewhere |= dict.fromkeys(("threshold", "weights"), "under `scoring`")
    return Manner(elsewhere=elsewhere, handled=PARTS)


def _target(spot: Spot, bench: Workbench) -> TargetSpec | None:
    at = spot.child("target")
    return bind_target(at, bench, bench.environ) if at and not is_null(at.node) else None


def _threshold(spot: Spot) -> Spot | None:
    scoring = spot.child("scoring")
    return _given(scoring, "threshold") if scoring else None


def _graders(spot: Spot, bench: Workbench, role: Role) -> Entries:
    at = spot.child("graders")
    if at is not None:
        return bind_graders(at, bench, role=role)
    if not _misspelt(spot, "graders"):
        bench.findings.fault(spot, "there is no grader", "`graders` has at least one")
    return Entries()


def _misspelt(spot: Spot, *names: str) -> bool:
    """Say whether a key that is not known was most likely meant for one of the names."""
    known = {*option_hints(SuiteHead), *PARTS}
    return any(find_close(key, known) in names for key, _ in spot.children() if key not in known)


def _dataset(spot: Spot, head: SuiteHead | None, bench: Workbench) -> SuitePath | None:
    at, inline = _given(spot, "dataset"), _given(spot, "samples")
    if at is None and inline is None and not _misspelt(spot, "dataset", "samples"):
        bench.findings.fault(spot, "there are no samples", "`dataset: FILE`, or `samples` inline")
    dataset = head.dataset if head else _dataset_alone(at, bench)
    if dataset is None or at is None:
        return None
    if inline is not None:
        bench.findings.fault(inline, "`dataset` and `samples` are both given", "one of the two")
    if dataset.path.is_dir():
        bench.findings.fault(at, f'"{dataset.text}" is a folder', "a JSONL or CSV file")
        return None
    if not dataset.path.name.lower().endswith(DATASET_SUFFIXES):
        problem = f'"{dataset.text}" is no dataset by its name'
        bench.findings.fault(at, problem, "a file whose name ends in .jsonl or .csv")
        return None
    return dataset


def _given(spot: Spot, key: str) -> Spot | None:
    """Give the value of a key; None where it is null."""
    at = spot.child(key)
    return None if at is None or is_null(at.node) else at


def _dataset_alone(at: Spot | None, bench: Workbench) -> SuitePath | None:
    """Resolve the dataset of a suite whose head is broken; what is wrong here is known already."""
    text = text_of(at.node) if at else None
    if text is None:
        return None
    try:
        found = bench.resolve(SuitePath, text)
    except BadReference:
        return None
    return found if isinstance(found, SuitePath) else None


def _weigh(
    spot: Spot, entries: Entries, scoring: ScoringEntry, bench: Workbench
) -> tuple[GraderSpec, ...]:
    """Give the graders their weights: their own, or those of `scoring.weights`."""
    at = (under := spot.child("scoring")) and under.child("weights")
    known = [*entries.names, *entries.kinds.values()]
    for key, weight in at.children() if at else ():
        if key not in known:
            problem = f'no grader is called "{key}" or of that type'
            bench.findings.fault(weight, problem, suggest(key, known))
        elif scoring.weights.get(key, 0) < 0:
            bench.findings.fault(weight, f"found {describe(weight.node)}", "at least 0")
        elif key in entries.names and entries.names[key].child("weight"):
            bench.findings.fault(weight, f'"{key}" has a weight already', "one of the two")
    specs = tuple(_weighed(spec, scoring.weights) for spec in entries.specs)
    scored = [spec.weight for spec in specs if spec.role == "scored"]
    threshold = _threshold(spot)
    if threshold and scored and not sum(scored):
        bench.findings.fault(threshold, "the weights of the scored graders are all 0")
    return specs


def _weighed(spec: GraderSpec, weights: Mapping[str, float]) -> GraderSpec:
    return replace(spec, weight=weights.get(spec.name, weights.get(spec.kind, spec.weight)))


def _fixtures(entries: Entries, bench: Workbench) -> tuple[Fixture, ...]:
    if bench.code is None:
        return ()
    fixtures, faults = collect_fixtures(bench.code, bench.folder)
    # A file that cannot be loaded may hold the very fixture that is asked for.
    asked = () if bench.code.faults else entries.asked
    found = [fault for one in asked if (fault := check_asked(one, fixtures))]
    bench.findings.faults.extend([*faults, *found])
    return tuple(fixtures.values())
