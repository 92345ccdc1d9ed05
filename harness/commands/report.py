"""`regrade report`: a stored run as files that other programs show."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.shared_options import runs_folder_option

if TYPE_CHECKING:
    from harness.types.explanations import Explanation
    from harness.types.summaries import Summary

_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command(name="report")
@click.argument("run")
@click.option("--junit", type=_FILE, metavar="FILE", help="Write JUnit XML, one case a sample.")
@click.option(
    "--junit-lines",
    is_flag=True,
    help="With --junit, put file and line on every case; Jenkins' xUnit plugin refuses those.",
)
@click.option("--markdown", type=_FILE, metavar="FILE", help="Write what `regrade explain` prints.")
@click.option("--github", is_flag=True, help="Print annotations of GitHub Actions.")
@runs_folder_option()
def command(  # noqa: PLR0913  (one parameter an option)
    run: str,
    junit: Path | None,
    markdown: Path | None,
    out: Path,
    *,
    junit_lines: bool,
    github: bool,
) -> int:
    """Write RUN in the forms that viewers of test results and pull requests show.

    RUN is a run directory, its name in the folder of runs, or `latest`. A FILE that is `-` is
    standard output. The exit code says whether the files were written, not what the run came to.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.commands.github_outputs import annotation_lines  # noqa: PLC0415
    from harness.commands.run_lookup import lookup_run  # noqa: PLC0415
    from harness.reports.summary_markdown import summary_markdown  # noqa: PLC0415
    from harness.running.output_places import (  # noqa: PLC0415
        refuse_one_stream,
        require_writable,
    )
    from harness.running.summary_pages import explained  # noqa: PLC0415

    if not (junit or markdown or github):
        raise click.UsageError("name what to write: --junit, --markdown or --github")
    if junit_lines and not junit:
        raise click.UsageError("--junit-lines is for --junit")
    refuse_one_stream(
        {"--junit": junit, "--markdown": markdown, "--github": Path("-") if github else None}
    )
    require_writable(junit, markdown, makes_folders=True)
    folder = lookup_run(run, out)
    summary, explanation = explained(folder)
    if junit:
        write_junit(folder, (summary, explanation), junit, with_lines=junit_lines)
    if markdown:
        _write(markdown, summary_markdown(explanation).encode())
    for line in annotation_lines(folder, summary, explanation) if github else ():
        click.echo(line, color=False)
    return 0


def write_junit(
    folder: Path,
    explained: "tuple[Summary, Explanation]",
    file: Path,
    *,
    with_lines: bool = False,
) -> None:
    """Write a run as JUnit XML.

    Raises:
        StoreError: the run cannot be read.
        InputError: the file cannot be written.
    """
    from harness.reports.junit_xml import ReportedRun, junit_xml  # noqa: PLC0415
    from harness.running.run_manifests import observed_graders  # noqa: PLC0415
    from harness.running.sample_places import places_of  # noqa: PLC0415
    from harness.running.sample_results import sample_results  # noqa: PLC0415
    from harness.storing.manifests import read_manifest  # noqa: PLC0415

    manifest = read_manifest(folder)
    places = places_of(manifest)
    summary, explanation = explained
    made = ReportedRun(
        summary=summary,
        explanation=explanation,
        results=sample_results(folder, places, observed_graders(manifest)),
        places=places,
        with_lines=with_lines,
    )
    _write(file, junit_xml(made))


def _shown(content: bytes) -> str:
    """Return a document for standard output: XML says in its own way what that cannot encode."""
    text = content.decode()
    if not text.startswith("<?xml"):
        return text
    return text.encode(sys.stdout.encoding, "xmlcharrefreplace").decode(sys.stdout.encoding)


def _write(file: Path, content: bytes) -> None:
    from harness.system.files import write_whole  # noqa: PLC0415
    from harness.types.errors import Fault, InputError  # noqa: PLC0415

    if str(file) == "-":
        sys.stdout.flush()
        click.echo(_shown(content), nl=False, color=False)
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, content.decode())
    except OSError as error:
        fault = Fault(file=str(file), problem=f"cannot be written: {error.strerror}")
        raise InputError([fault]) from error
