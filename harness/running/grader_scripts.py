"""What a run offers its graders: connections, and the scripted models that judges ask."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from harness.grading.connected_calls import grader_connections
from harness.loading.price_tables import Prices
from harness.running.scripted_models import missing_names
from harness.types.errors import Fault, GraderError, SuiteError
from harness.types.prices import PriceList
from harness.types.protocols import GradingContext
from harness.types.suites import Suite


@asynccontextmanager
async def connected_graders(
    suite: Suite, warn: Callable[[str], None], prices: PriceList | None = None
) -> AsyncIterator[None]:
    """Let the graders of a suite, and of its samples, open what they need; then close it.

    `prices` knows what judges cost; by default the suite does.
    """
    async with AsyncExitStack() as servers:
        context = GradingContext(
            concurrency=suite.limits.concurrency,
            max_wait_seconds=suite.retries.max_wait_seconds,
            serve_script=_Servers(_script_of_target(suite), servers).serve,
            warn=warn,
            prices=prices or Prices(suite.prices),
            keeps_nothing=suite.redact is not None,
        )
        async with grader_connections(context):
            yield


def script_faults(suite: Suite) -> Iterator[Fault]:
    """Return what is wrong with the scripts of the suite's graders, the target's script aside."""
    of_target = _script_of_target(suite)
    wanted: dict[Path, set[str]] = {}
    for spec in (inner for whole in suite.graders for inner in whole.with_parts):
        script, name = getattr(spec.grader, "scripted_model", None) or (None, "")
        path = script or of_target
        if path is not None and name:
            wanted.setdefault(path, set()).add(name)
    for path, names in wanted.items():
        yield from _faults_of(path, names)


def require_scripts(suite: Suite) -> None:
    """Check the scripts of the suite's graders before anything is driven.

    Raises:
        SuiteError: with the faults that `script_faults` finds.
    """
    if faults := tuple(script_faults(suite)):
        raise SuiteError(faults)


def _faults_of(path: Path, names: set[str]) -> list[Fault]:
    # The server's package is loaded only where there is a script.
    from harness.serving.script import read_script  # noqa: PLC0415

    try:
        return missing_names(path, sorted(names), read_script(path).models)
    except SuiteError as error:
        return list(error.faults)


def _script_of_target(suite: Suite) -> Path | None:
    script = suite.target.script if suite.target is not None else None
    return script.path if script is not None else None


class _Servers:
    """Servers of scripts, each started when it is first asked for."""

    def __init__(self, of_target: Path | None, servers: AsyncExitStack) -> None:
        self._of_target, self._servers = of_target, servers
        self._urls: dict[Path, str] = {}
        self._starting = asyncio.Lock()

    async def serve(self, script: Path | None) -> str:
        """Return the base URL of a script's models.

        Raises:
            GraderError: `judge_refused`, where there is no script, or none that can be used.
        """
        path = script or self._of_target
        if path is None:
            message = "the scripted model has no script: name it as `script` of the grader"
            raise GraderError(message, code="judge_refused")
        async with self._starting:
            if path not in self._urls:
                self._urls[path] = await self._start(path)
        return self._urls[path]

    async def _start(self, path: Path) -> str:
        # The server is loaded only where a suite has scripted models.
        from harness.serving.model_server import scripted_server  # noqa: PLC0415
        from harness.serving.script import read_script  # noqa: PLC0415

        try:
            return await self._servers.enter_async_context(scripted_server(read_script(path)))
        except SuiteError as error:
            raise GraderError(str(error.faults[0]), code="judge_refused") from error
