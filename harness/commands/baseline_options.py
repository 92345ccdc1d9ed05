"""The options of a command that compares its run with a baseline as it ends."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.commands.run_reporting import Compared
    from harness.running.foreseen_faults import Upcoming
    from harness.running.resuming import Resume
    from harness.running.run_options import ComparedWith


def compared(against: "ComparedWith", upcoming: "Upcoming") -> "Compared":
    """Return what compares the run of a suite as it ends.

    Raises:
        InputError: the baseline is no run, or a margin is no number.
        ComparisonError: it can be told now that the runs cannot be compared.
        StoreError: the baseline is damaged.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.comparison_reporting import compared_as_it_ends  # noqa: PLC0415
    from harness.running.compared_metrics import MetricChoice  # noqa: PLC0415
    from harness.running.run_addresses import RunAddress  # noqa: PLC0415
    from harness.running.run_comparisons import ComparisonChoices, read_margins  # noqa: PLC0415

    choice = MetricChoice(gating=against.metrics)
    return compared_as_it_ends(
        ComparisonChoices(
            baseline=RunAddress.read(against.baseline),
            out=upcoming.options.out,
            metrics=read_margins(against.margins, choice),
            suite=upcoming.suite,
            requires_baseline=against.required,
            is_earlier=upcoming.folder is not None,
        ),
        upcoming,
    )


def settled(given: "ComparedWith | None", resume: "Resume | None") -> "ComparedWith | None":
    """Return what a run is compared with; one that is gone on with as it was to be, which is said.

    Raises:
        UsageError: something is chosen of a comparison, and there is no baseline.
        StoreError: the run cannot be read.
    """
    from harness.running.planned_comparisons import (  # noqa: PLC0415
        comparison_words,
        gone_on_with,
    )
    from harness.storing.manifests import read_manifest  # noqa: PLC0415

    against = gone_on_with(given, read_manifest(resume.folder)) if resume else given
    if against is not None and not against.baseline:
        raise click.UsageError("--metric, --margin and --require-baseline need --baseline")
    if resume and against is not None and against != given:
        resume.say(f"the run is compared as it was to be: {comparison_words(against)}")
    return against


_OPTIONS = (
    click.option(
        "--baseline",
        metavar="RUN",
        help="Compare with this run as the run ends: RUN, RUN::MODEL, an exported file, `pinned` "
        "or `latest`.",
    ),
    click.option("--metric", "metrics", multiple=True, help="With --baseline, let this decide."),
    click.option(
        "--margin",
        "margins",
        multiple=True,
        metavar="FRACTION",
        help="With --baseline, the drop that you can live with: 0.05 is 5 points.",
    ),
    click.option(
        "--require-baseline", is_flag=True, help="Exit with 3 where there is no baseline yet."
    ),
)


def baseline_options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options; it receives them as `against`, None where none is given."""

    @wraps(function)
    def command(*args: Any, **given: Any) -> int:
        against = _against(given)
        return function(*args, **given, against=against)

    made: Callable[..., int] = command
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


def _against(given: dict[str, Any]) -> "ComparedWith | None":
    """Take the options out of what a command is given; the baseline is empty if not named."""
    from harness.running.run_options import ComparedWith  # noqa: PLC0415

    baseline, metrics, margins, required = (
        given.pop(name) for name in ("baseline", "metrics", "margins", "require_baseline")
    )
    if baseline is None and not (metrics or margins or required):
        return None
    return ComparedWith(
        baseline=baseline or "", metrics=metrics, margins=margins, required=required
    )
