"""`regrade list`: graders, extractors, targets and formats, our own and of installed packages."""

import click

KINDS = {
    "graders": "regrade.graders",
    "extractors": "regrade.extractors",
    "targets": "regrade.targets",
    "formats": "regrade.importers",
}
"""What can be listed -> the group of entry points that offers it."""


@click.command(name="list")
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.argument("name", required=False)
def command(kind: str, name: str | None) -> int:
    """Show what a suite or `--format` can name; with NAME, what one does and its options.

    Those of installed packages are among them. Formats stand in the order in which they are tried.
    """
    # Loaded here, so that `regrade --help` need not.
    from harness.loading.plugins import find_plugins  # noqa: PLC0415
    from harness.reports.catalogue_text import all_plugins, one_plugin  # noqa: PLC0415
    from harness.system.suggestions import suggest  # noqa: PLC0415

    plugins = find_plugins(KINDS[kind])
    if name is None:
        click.echo(all_plugins(plugins))
    elif name in plugins:
        click.echo(one_plugin(name, plugins[name]))
    else:
        raise click.UsageError(f"there is no {kind[:-1]} {name!r}; {suggest(name, plugins)}")
    return 0
