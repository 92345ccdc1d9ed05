"""`regrade serve-model`: the models of a script, served until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.types.errors import Fault, InputError
from harness.types.suites import SCRIPTED

if TYPE_CHECKING:
    from harness.serving.script_records import Script


@click.command("serve-model")
@click.argument("script", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--close",
    is_flag=True,
    help="Close the connection after every answer; a Letta server needs it.",
)
def command(script: Path, *, port: int, host: str, close: bool) -> int:
    """Serve the models of SCRIPT to any OpenAI client, until Ctrl-C.

    SCRIPT is a YAML file such as the models.yaml beside a suite. What to export, so that a client
    finds the server, is printed first.
    """
    # aiohttp and pydantic are loaded only by those who serve.
    import asyncio  # noqa: PLC0415

    from harness.serving.script import read_script  # noqa: PLC0415

    read = read_script(script)
    try:
        asyncio.run(_serve(read, host=host, port=port, close=close))
    except OSError as error:
        problem = f"cannot listen here: {error.strerror or error}"
        raise InputError([Fault(file=f"{host}:{port}", problem=problem)]) from error
    except KeyboardInterrupt:
        click.echo("Stopped.")
    return 0


async def _serve(script: Script, *, host: str, port: int, close: bool) -> None:
    import asyncio  # noqa: PLC0415  (loaded only where a server runs)

    from harness.serving.model_server import scripted_server  # noqa: PLC0415  (loads aiohttp)

    async with scripted_server(script, host=host, port=port, close=close) as url:
        models = ", ".join(f"{SCRIPTED}{name}" for name in script.models)
        click.echo(f"Serving {models} at {url} until Ctrl-C.\n")
        click.echo(f"export OPENAI_BASE_URL={url}\nexport OPENAI_API_KEY=unused")
        await asyncio.Event().wait()
