"""What `compare` and `run --baseline` share: comparisons are shown, and written to files."""

import tempfile
from contextlib import suppress
from pathlib import Path

import click
import msgspec

from harness.commands.run_reporting import Compared, console
from harness.reports.comparison_markdown import comparisons_markdown
from harness.reports.comparison_text import print_comparisons
from harness.running.compared_metrics import chosen_metrics, require_suite_metrics
from harness.running.foreseen_faults import Upcoming, refuse_incomparable
from harness.running.recording import RunResult
from harness.running.run_addresses import find_baseline
from harness.running.run_comparisons import ComparisonChoices, compare_runs, require_whole_file
from harness.storing.run_folders import COMPARISON
from harness.system.files import whole_file
from harness.system.loops import run_to_end
from harness.system.texts import one_line
from harness.types.comparisons import Comparisons
from harness.types.errors import Fault, HarnessError, InputError

_STANDARD_OUTPUT = Path("-")


def compared_as_it_ends(choices: ComparisonChoices, upcoming: Upcoming) -> Compared:
    """Return what compares a run of a suite as it ends, and puts `comparison.json` into it.

    Raises:
        InputError: what is named as the baseline is none, or a metric; nothing was driven.
        ComparisonError: they cannot be compared, whatever comes of the run; nothing was driven.
        StoreError: the baseline is damaged; nothing was driven.
    """
    suite = upcoming.suite
    rule = msgspec.to_builtins(suite.comparison) if suite.comparison else None
    require_suite_metrics(chosen_metrics(rule, choices.metrics), suite)
    with tempfile.TemporaryDirectory(prefix="regrade-compare-") as scratch:
        wanted, workspace = upcoming.wanted(), Path(scratch)
        found = find_baseline(choices.baseline, choices.out, wanted, workspace=workspace)
        if found is not None:
            require_whole_file(choices.baseline, found)
            refuse_incomparable(found, choices.baseline, upcoming)

    def compared(result: RunResult) -> Comparisons:
        place = result.folder / COMPARISON
        try:
            found = run_to_end(compare_runs((result.folder, None), choices))
            show(found, json_to=place)
        except HarnessError as error:
            found = _not_compared(error)
            # What explains the run later says it again, unless this is what cannot be written.
            with suppress(HarnessError):
                _write(place, _json(found))
        return found

    return compared


def _not_compared(error: HarnessError) -> Comparisons:
    faults = error.faults if isinstance(error, InputError) else ()
    problems = tuple(one_line(line) for line in (map(str, faults) if faults else [error.line]))
    for problem in problems:
        click.echo(f"not compared: {problem}", err=True)
    return Comparisons(exit_code=3, problems=problems)


def _json(compared: Comparisons) -> bytes:
    return msgspec.json.format(msgspec.json.encode(compared), indent=2)


def show(
    compared: Comparisons, *, json_to: Path | None = None, markdown_to: Path | None = None
) -> None:
    """Print a comparison, and write it as JSON and Markdown where that was asked for.

    A file that is `-` is standard output, which then holds nothing else.

    Raises:
        InputError: a file cannot be written.
    """
    if _STANDARD_OUTPUT in {json_to, markdown_to}:
        pass
    elif compared.first_night:
        click.echo(one_line(f"First night: nothing was compared, for {compared.missing}"))
    else:
        print_comparisons(console(), compared)
    if json_to is not None:
        _write(json_to, _json(compared))
    if markdown_to is not None:
        _write(markdown_to, comparisons_markdown(compared).encode())


def _write(path: Path, text: bytes) -> None:
    if path == _STANDARD_OUTPUT:
        click.echo(text.decode().rstrip("\n"), color=False)
        return
    try:
        with whole_file(path) as draft:
            draft.write_bytes(text)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise InputError([Fault(file=str(path), problem=problem)]) from error
