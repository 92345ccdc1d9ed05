"""The parts of a suite put together from its nodes, each as far as it could be read."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.documents.findings import BadReference
from harness.documents.nodes import Entry, Location, Node, Table, describe, is_null, text_of
from harness.documents.shapes import option_hints
from harness.loading.comparison_checks import check_comparison
from harness.loading.custom_functions import FunctionNeeds, check_needs
from harness.loading.gate_checks import Measurable
from harness.loading.gate_entries import bind_gates
from harness.loading.grader_entries import Entries, bind_graders
from harness.loading.hub_urls import hub_file
from harness.loading.inline_samples import read_inline_samples
from harness.loading.letta_evals_keys import correct_misspelt, with_entry
from harness.loading.letta_evals_suites import (
    TOP_KEYS,
    check_composer,
    is_letta_evals,
    native_suite,
    with_state,
)
from harness.loading.letta_evals_targets import TARGET_KEYS, native_kind
from harness.loading.load_context import LoadContext
from harness.loading.misplaced_keys import put_right
from harness.loading.price_tables import price_faults
from harness.loading.redactors import check_redactor
from harness.loading.suite_fixtures import collect_fixtures
from harness.loading.suite_heads import ScoringEntry, SuiteHead
from harness.loading.suite_secrets import suite_secrets
from harness.loading.target_entry import TargetHead, bind_target, check_target
from harness.system.suggestions import find_close, suggest
from harness.types.code import Fixture, HubFile, SuitePath
from harness.types.grades import Role
from harness.types.suites import (
    MOST_WEIGHT,
    ComparisonRule,
    Gate,
    GraderSpec,
    Limits,
    Retries,
    Scoring,
    Suite,
    TargetSpec,
)

PARTS = frozenset({"samples", "target", "graders", "gates"})
DATASET_SUFFIXES = (".jsonl", ".csv")


def assemble(node: Node, context: LoadContext) -> Suite | None:
    """Put a suite together; faults go to the findings, and what is broken is left out."""
    written = Location(node)
    if not isinstance(node, Table):
        found = f"found {describe(node)}"
        context.findings.fault(written, found, "a suite is a mapping of keys and values")
        return None
    context = replace(context, dialect="letta-evals" if is_letta_evals(written) else "regrade")
    translated = native_suite(_with_keys_put_right(written, context), context)
    location = translated.suite
    is_url, hub = _hub_dataset(location, context)
    parts = PARTS | {"dataset"} if is_url else PARTS
    foreign = {*TOP_KEYS} - {"grader"} if context.dialect == "letta-evals" else ()
    head = context.bind(SuiteHead, location.without(*parts), also=parts, foreign=foreign)
    role: Role = "required" if _threshold(location) is None else "scored"
    entries = _graders(location, context, role)
    location = with_state(location, entries.needs, context)
    target = _target(location, context) if written.child("target") else None
    inline = read_inline_samples(location, context, target, role=role, taken=entries.names)
    scoring = head.scoring if head else ScoringEntry()
    fixtures = _fixtures((*entries.needs, *inline.needs), context)
    if target:
        check_target(target.target, location, context, fixtures)
    check_composer(translated, entries.specs, context)
    redact = head.redact if head else None
    check_redactor(redact, location.child("redact"), context)
    check_comparison(head.comparison if head else None, location, context, entries.names)
    weighed = _weigh(location, entries, scoring, context)
    suite = Suite(
        name=head.name if head else "",
        description=head.description if head else "",
        dataset=_dataset(location, head, hub, context),
        dialect=context.dialect,
        samples=inline.samples,
        max_samples=head.max_samples if head else None,
        sample_tags=(head.sample_tags if head else None) or (),
        target=target,
        graders=weighed,
        fixtures=fixtures,
        epochs=head.epochs if head else 1,
        retries=head.retries if head else Retries(),
        limits=head.limits if head else Limits(),
        scoring=Scoring(
            threshold=scoring.threshold, rule=translated.gate if translated.is_rule else None
        ),
        slices=tuple(dict.fromkeys(head.slices)) if head else (),
        gates=(
            *_gates(location, context, head, entries, target),
            *([translated.gate] if translated.gate else []),
        ),
        secrets=_secrets(location, head, target, weighed, context),
        redact=redact,
        errors=head.errors if head else "fail",
        comparison=head.comparison if head else ComparisonRule(),
        prices=head.prices if head else {},
    )
    return _check_prices(suite, location, context)


def _check_prices(suite: Suite, location: Location, context: LoadContext) -> Suite:
    """Note the models without a price that a limit needs, and its place: grading goes without."""
    limits = location.child("limits")
    at = (limits and limits.child("max_cost_usd")) or location
    for fault in price_faults(suite, suite.target.models if suite.target else ()):
        context.findings.absence(at, f"{fault.problem}; {fault.allowed}")
    position = at.node.position
    return replace(suite, cost_limit_at=(position.line, position.column))


def _gates(
    location: Location,
    context: LoadContext,
    head: SuiteHead | None,
    entries: Entries,
    target: TargetSpec | None,
) -> tuple[Gate, ...]:
    at = location.child("gates")
    if at is None:
        return ()
    has = Measurable(
        graders=entries.names,
        models=target.models if target else None,
        # What a broken head says is not known.
        slices=head.slices if head else None,
        epochs=head.epochs if head else None,
    )
    return bind_gates(at, context, has)


def _secrets(
    location: Location,
    head: SuiteHead | None,
    target: TargetSpec | None,
    specs: Iterable[GraderSpec],
    context: LoadContext,
) -> tuple[str, ...]:
    at = location.child("secrets") if head else None
    named = {text_of(one.node) or "": one for one in at.items()} if at else {}
    return suite_secrets(target, specs, named, context)


def _with_keys_put_right(location: Location, context: LoadContext) -> Location:
    """Return a suite with the keys that stand one level off, or are misspelt, put right."""
    own = {*option_hints(SuiteHead), *PARTS}
    name = native_kind(location.child("target")) or ""
    kind = context.plugins.targets.get(name)
    options = {*option_hints(TargetHead), *(option_hints(kind) if kind else ())}
    foreign = TARGET_KEYS.get(name, ())
    inner = {
        "target": {*options, *foreign},
        "limits": option_hints(Limits),
        "retries": option_hints(Retries),
        "scoring": option_hints(ScoringEntry),
    }
    anywhere = own.union(*inner.values())
    location = correct_misspelt(location, context, anywhere, TOP_KEYS)
    target = location.child("target")
    if target and kind:
        target = correct_misspelt(target, context, {*options, *own, *TOP_KEYS}, foreign)
        entry = Entry(node=target.node, position=location.key_position("target"))
        location = Location(with_entry(location.node, ("target",), entry), location.path)
    for below, keys in inner.items():
        location = put_right(location, context.findings, below, own={*own, *TOP_KEYS}, inner=keys)
    return location


def _target(location: Location, context: LoadContext) -> TargetSpec | None:
    at = location.child("target")
    return bind_target(at, context, context.environ) if at else None


def _threshold(location: Location) -> Location | None:
    scoring = location.child("scoring")
    return _given(scoring, "threshold") if scoring else None


def _graders(location: Location, context: LoadContext, role: Role) -> Entries:
    at = location.child("graders")
    if at is not None:
        return bind_graders(at, context, role=role)
    if not _misspelt(location, "graders") and not _samples_have_graders(location):
        context.findings.fault(location, "there is no grader", "`graders` has at least one")
    return Entries()


def _samples_have_graders(location: Location) -> bool:
    """Say whether the samples are written in the suite, and bring graders of their own."""
    samples = location.child("samples")
    each = list(samples.items()) if samples else []
    return bool(each) and all(at.child("graders") for at in each)


def _misspelt(location: Location, *names: str) -> bool:
    """Say whether a key that is not known was most likely meant for one of the names."""
    known = {*option_hints(SuiteHead), *PARTS, *TOP_KEYS} - {"grader"}
    return any(
        find_close(key, known) in names for key, _ in location.children() if key not in known
    )


def _dataset(
    location: Location, head: SuiteHead | None, hub: HubFile | None, context: LoadContext
) -> SuitePath | HubFile | None:
    at, inline = _given(location, "dataset"), _given(location, "samples")
    if at is None and location.child("samples") is None:
        _check_absence(location, context)
    dataset = hub or (head.dataset if head else _dataset_alone(at, context))
    if dataset is None or at is None:
        return None
    if inline is not None:
        context.findings.fault(inline, "`dataset` and `samples` are both given", "one of the two")
    if isinstance(dataset, HubFile):
        return dataset
    if dataset.path.is_dir():
        context.findings.fault(at, f'"{dataset.text}" is a folder', "a JSONL or CSV file")
        return None
    if not dataset.path.name.lower().endswith(DATASET_SUFFIXES):
        problem = f'"{dataset.text}" is no dataset by its name'
        context.findings.fault(at, problem, "a file whose name ends in .jsonl or .csv")
        return None
    return dataset


def _check_absence(location: Location, context: LoadContext) -> None:
    """Report that there are no samples, unless the suite only grades: records bring theirs."""
    only_grades = location.child("target") is None and location.child("dataset") is None
    if not only_grades and not _misspelt(location, "dataset", "samples"):
        context.findings.fault(
            location, "there are no samples", "`dataset: FILE`, or `samples` inline"
        )
    for key in ("max_samples", "sample_tags") if only_grades else ():
        if _given(location, key):
            problem = "there are no samples to select from"
            context.findings.key_fault(location, key, problem, "it needs a `dataset`")


def _hub_dataset(location: Location, context: LoadContext) -> tuple[bool, HubFile | None]:
    """Say whether the dataset is a URL, and return what it names; None where that is a fault."""
    at = location.child("dataset")
    text = text_of(at.node) if at else None
    if at is None or text is None:
        return False, None
    try:
        file = hub_file(text)
    except BadReference as problem:
        context.findings.reference(at, problem)
        return True, None
    return file is not None, file


def _given(location: Location, key: str) -> Location | None:
    """Return the value of a key; None where it is null."""
    at = location.child(key)
    return None if at is None or is_null(at.node) else at


def _dataset_alone(at: Location | None, context: LoadContext) -> SuitePath | None:
    """Resolve the dataset of a suite whose head is broken; what is wrong here is known already."""
    text = text_of(at.node) if at else None
    if text is None:
        return None
    try:
        found = context.resolve(SuitePath, text)
    except BadReference:
        return None
    return found if isinstance(found, SuitePath) else None


def _weigh(
    location: Location, entries: Entries, scoring: ScoringEntry, context: LoadContext
) -> tuple[GraderSpec, ...]:
    """Return the graders their weights: their own, or those of `scoring.weights`."""
    at = (under := location.child("scoring")) and under.child("weights")
    known = [*entries.names, *entries.kinds]
    for key, weight in at.children() if at else ():
        if key not in known:
            problem = f'no grader is called "{key}" or of that type'
            context.findings.fault(weight, problem, suggest(key, known))
        elif not 0 <= scoring.weights.get(key, 0) <= MOST_WEIGHT:
            allowed = f"at least 0, at most {MOST_WEIGHT:,}"
            context.findings.fault(weight, f"found {describe(weight.node)}", allowed)
        elif key in entries.names and entries.names[key].child("weight"):
            context.findings.fault(weight, f'"{key}" has a weight already', "one of the two")
    specs = tuple(_weighed(spec, scoring.weights) for spec in entries.specs)
    scored = [spec.weight for spec in specs if spec.role == "scored"]
    threshold = _threshold(location)
    if threshold and scored and not sum(scored):
        context.findings.fault(threshold, "the weights of the scored graders are all 0")
    return specs


def _weighed(spec: GraderSpec, weights: Mapping[str, float]) -> GraderSpec:
    return replace(spec, weight=weights.get(spec.name, weights.get(spec.kind, spec.weight)))


def _fixtures(needed: Iterable[FunctionNeeds], context: LoadContext) -> tuple[Fixture, ...]:
    if context.code is None:
        return ()
    fixtures, faults = collect_fixtures(context.code, context.folder)
    # A file that cannot be loaded may hold the very fixture that is asked for.
    needs = () if context.code.faults else needed
    found = [fault for one in needs if (fault := check_needs(one, fixtures))]
    context.findings.faults.extend([*faults, *found])
    return tuple(fixtures.values())
