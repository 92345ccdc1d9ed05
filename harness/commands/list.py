"""`regrade list`: graders, extractors and targets, our own and those of installed packages."""

import click

KINDS = ("graders", "extractors", "targets")


@click.command(name="list")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name", required=False)
def command(kind: str, name: str | None) -> int:
    """List what a suite can name, or with NAME what one of them does and its options."""
    # Loaded here, so that `regrade --help` need not.
    from harness.loading.plugins import find_plugins  # noqa: PLC0415
    from harness.reports.catalogue_text import all_plugins, one_plugin  # noqa: PLC0415
    from harness.system.suggestions import suggest  # noqa: PLC0415

    plugins = find_plugins(f"regrade.{kind}")
    if name is None:
        click.echo(all_plugins(plugins))
    elif name in plugins:
        click.echo(one_plugin(name, plugins[name]))
    else:
        raise click.UsageError(f"there is no {kind[:-1]} {name!r}; {suggest(name, plugins)}")
    return 0
