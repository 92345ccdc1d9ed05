"""The model of a trial, as a Letta server is told of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from harness.endpoints.keys import is_loopback
from harness.system.suggestions import suggest
from harness.targets.letta_inline import DEFAULT
from harness.targets.letta_server import LettaServer, path_of
from harness.targets.letta_shapes import ServedModel
from harness.types.errors import TargetError
from harness.types.suites import SCRIPTED

_WINDOW = 128_000


def model_settings(model: str, scripted_url: str | None) -> Mapping[str, Any]:
    """Return what makes an agent use a model; nothing for the agent's own.

    Raises:
        TargetError: `not_found`, where a scripted model has no server.
    """
    if model == DEFAULT:
        return {}
    if not model.startswith(SCRIPTED):
        return {"model": model}
    if scripted_url is None:
        raise TargetError(
            "the scripted model server is not running",
            code="not_found",
            hint="name the script of the models as target.script",
        )
    endpoint = {"model_endpoint_type": "openai", "model_endpoint": scripted_url}
    return {"llm_config": {"model": model, **endpoint, "context_window": _WINDOW}}


async def check_models(server: LettaServer, models: Iterable[str]) -> None:
    """Check that the server can be asked, and that it knows the models.

    Raises:
        TargetError: `not_found` for a model that it does not know, `bad_request` for scripted
            models that it cannot reach; whatever keeps the server from being asked.
    """
    served = await server.get(path_of("models", ""), shape=list[ServedModel])
    handles = [str(one.get("handle")) for one in served]
    for model in models:
        if model.startswith(SCRIPTED):
            _require_near(server, model)
        elif model not in {DEFAULT, *handles}:
            raise TargetError(
                f'the Letta server has no model "{model}"',
                code="not_found",
                hint=suggest(model, handles),
            )


def _require_near(server: LettaServer, model: str) -> None:
    if not is_loopback(server.url):
        raise TargetError(
            f"{server.url} cannot reach {model}: scripted models are served on this machine only",
            code="bad_request",
            hint="run the Letta server here, or name one of its models",
        )
