"""The options of a command that compares its run with a baseline as it ends."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.commands.run_reporting import Compared
    from harness.running.foreseen_faults import Upcoming


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """What a run is compared with, as the command line names it, and by what."""

    baseline: str
    metrics: tuple[str, ...]
    margins: tuple[str, ...]
    required: bool

    def compared(self, upcoming: "Upcoming") -> "Compared":
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
        from harness.running.run_comparisons import (  # noqa: PLC0415
            ComparisonChoices,
            read_margins,
        )

        choice = MetricChoice(gating=self.metrics)
        return compared_as_it_ends(
            ComparisonChoices(
                baseline=RunAddress.read(self.baseline),
                out=upcoming.options.out,
                metrics=read_margins(self.margins, choice),
                suite=upcoming.suite,
                requires_baseline=self.required,
            ),
            upcoming,
        )


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
    """Give a command the options; it receives them as `against`, None without a baseline."""

    @wraps(function)
    def command(*args: Any, **given: Any) -> int:
        against = _against(given)
        return function(*args, **given, against=against)

    made: Callable[..., int] = command
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


def _against(given: dict[str, Any]) -> Against | None:
    """Take the options out of what a command is given."""
    baseline, metrics, margins, required = (
        given.pop(name) for name in ("baseline", "metrics", "margins", "require_baseline")
    )
    if baseline is not None:
        return Against(baseline=baseline, metrics=metrics, margins=margins, required=required)
    if metrics or margins or required:
        raise click.UsageError("--metric, --margin and --require-baseline need --baseline")
    return None
