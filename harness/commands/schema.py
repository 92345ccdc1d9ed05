"""`regrade schema`: the JSON Schema of a suite."""

import json

import click


@click.command(name="schema")
def command() -> int:
    """Print the JSON Schema of a suite, for editors that complete and check YAML."""
    from harness.loading.suite_schema import suite_schema  # noqa: PLC0415  (loaded when it is called)

    click.echo(json.dumps(suite_schema(), indent=2))
    return 0
