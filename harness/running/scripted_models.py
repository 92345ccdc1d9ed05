"""The scripted models of a target, served while a run lasts."""

from collections.abc import Collection, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from harness.system.suggestions import suggest
from harness.types.errors import Fault, SuiteError
from harness.types.suites import SCRIPTED, TargetSpec


def scripted_models(target: TargetSpec) -> AbstractAsyncContextManager[str | None]:
    """Serve the scripted models of a target; the context gives their base URL, or None.

    Raises:
        SuiteError: at once, where the script cannot be used, or has no such model.
    """
    if target.script is None or not any(m.startswith(SCRIPTED) for m in target.models):
        return nullcontext()
    # The server is loaded only where a suite has scripted models.
    from harness.serving.model_server import scripted_server  # noqa: PLC0415
    from harness.serving.script import read_script  # noqa: PLC0415

    script = read_script(target.script.path)
    if faults := missing_models(target, script.models):
        raise SuiteError(faults)
    return scripted_server(script, close=getattr(target.target, "scripted_closes", False))


def missing_models(target: TargetSpec, scripted: Collection[str]) -> list[Fault]:
    """Return a fault for each scripted model of a target that its script does not have."""
    if target.script is None:
        return []
    wanted = [m.removeprefix(SCRIPTED) for m in target.models if m.startswith(SCRIPTED)]
    return missing_names(target.script.path, wanted, scripted)


def missing_names(script: Path, wanted: Iterable[str], scripted: Collection[str]) -> list[Fault]:
    """Return a fault for each wanted model that a script does not have."""
    return [
        Fault(
            file=script.as_posix(),
            path="models",
            problem=f'the script has no model "{name}"',
            allowed=suggest(name, scripted),
        )
        for name in wanted
        if name not in scripted
    ]
