"""`regrade serve-model`: the models of a script, served until Ctrl-C."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.serving.script import Script


@click.command("serve-model")
@click.argument("script", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; 0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
def command(script: Path, port: int, host: str) -> None:
    """Serve the models of SCRIPT to any OpenAI client, until Ctrl-C."""
    # aiohttp and pydantic are loaded only by those who serve.
    import asyncio  # noqa: PLC0415

    from harness.serving.script import read_script  # noqa: PLC0415
    from harness.types.errors import SuiteError  # noqa: PLC0415

    try:
        asyncio.run(_serve(read_script(script), host, port))
    except SuiteError as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{host}:{port}: cannot listen here: {error.strerror or error}")
    except KeyboardInterrupt:
        click.echo("Stopped.")


async def _serve(script: Script, host: str, port: int) -> None:
    import asyncio  # noqa: PLC0415  (loaded only where a server runs)

    from harness.serving.model_server import scripted_server  # noqa: PLC0415  (loads aiohttp)

    async with scripted_server(script, host=host, port=port) as url:
        models = ", ".join(f"scripted/{name}" for name in script.models)
        click.echo(f"Serving {models} at {url} until Ctrl-C.\n")
        click.echo(f"export OPENAI_BASE_URL={url}\nexport OPENAI_API_KEY=unused")
        sys.stdout.flush()
        await asyncio.Event().wait()


def _refuse(text: str) -> None:
    click.echo(text, err=True)
    sys.exit(2)
