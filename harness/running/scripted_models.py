"""The scripted models of a target, served while a run lasts."""

from contextlib import AbstractAsyncContextManager, nullcontext

from harness.types.suites import SCRIPTED, TargetSpec


def scripted_models(target: TargetSpec) -> AbstractAsyncContextManager[str | None]:
    """Serve the scripted models of a target; the context gives their base URL, or None.

    Raises:
        SuiteError: at once, where the script cannot be used.
    """
    if target.script is None or not any(m.startswith(SCRIPTED) for m in target.models):
        return nullcontext()
    # The server is loaded only where a suite has scripted models.
    from harness.serving.model_server import scripted_server  # noqa: PLC0415
    from harness.serving.script import read_script  # noqa: PLC0415

    return scripted_server(read_script(target.script.path))
