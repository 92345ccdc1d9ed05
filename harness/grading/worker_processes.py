"""Worker processes for custom graders with `isolation: process`: what overruns is killed.

A worker imports one file of the suite and answers one call after another; it is used again for
the next trial. A run opens the workers and ends them. What goes in and out is described in
`grader_worker`.
"""

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

import msgspec

import harness
from harness.grading.error_grades import error_grade, grade_of_exception
from harness.grading.grader_worker import LENGTH_BYTES, Request, frame
from harness.system.processes import kill_group, own_group
from harness.system.texts import harmless
from harness.system.threads import in_thread
from harness.types.code import CustomGrader
from harness.types.grades import Grade

_START_SECONDS = 60.0
"""How long a worker may take to import the suite's file; the grader's own time starts later."""

_END_SECONDS = 1.0
"""How long to wait for the end of a process that is about to end."""

_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from harness.grading.grader_worker import main; main()"
)
_BUFFER_BYTES = 2**16

_opened: ContextVar["_Workers | None"] = ContextVar("worker_processes", default=None)


@asynccontextmanager
async def worker_processes(most: int) -> AsyncIterator[None]:
    """Let custom graders be called in up to `most` worker processes, which end with the context."""
    workers = _Workers(most)
    token = _opened.set(workers)
    try:
        yield
    finally:
        _opened.reset(token)
        await workers.end()


async def call_in_process(
    grader: CustomGrader, arguments: Mapping[str, Any], *, seconds: float
) -> Grade:
    """Call a custom grader in a worker process; one that overruns is killed.

    Outside `worker_processes`, the call has a process of its own.
    """
    workers = _opened.get()
    if workers is not None:
        request = Request(name=grader.name, arguments=dict(arguments), seconds=seconds)
        return await workers.call(grader.file, request)
    async with worker_processes(1):
        return await call_in_process(grader, arguments, seconds=seconds)


class _Workers:
    """The workers of one run: no more than `most`, those that wait for work included."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._turn = asyncio.Semaphore(most)
        self._busy = 0
        self._idle: list[_Worker] = []
        self._ended: list[_Worker] = []

    async def call(self, file: Path, request: Request) -> Grade:
        """Let a worker answer a request; whatever goes wrong is an error grade."""
        worker = None
        async with self._turn:
            self._busy += 1
            try:
                worker = self._take(file) or await _Worker.start(file)
                return await worker.grade(request)
            except Exception as error:  # noqa: BLE001  (it cannot be started, or nothing be sent)
                return grade_of_exception(error)
            finally:
                self._busy -= 1
                if worker is not None:
                    self._put_back(worker)

    def _take(self, file: Path) -> "_Worker | None":
        """Return a worker of the file; where none waits, make room for one and return None."""
        for worker in self._idle:
            if worker.file == file:
                self._idle.remove(worker)
                return worker
        if self._busy + len(self._idle) > self._most:
            self._end(self._idle.pop(0))
        return None

    def _put_back(self, worker: "_Worker") -> None:
        if worker.is_usable:
            self._idle.append(worker)
        else:
            self._end(worker)

    def _end(self, worker: "_Worker") -> None:
        worker.kill()
        self._ended = [*(other for other in self._ended if other.is_alive), worker]

    async def end(self) -> None:
        """Kill all workers, and wait until they are gone."""
        for worker in self._idle:
            self._end(worker)
        await asyncio.gather(*(worker.exit_code() for worker in self._ended))


class _Worker:
    """A process for the functions of one file."""

    def __init__(
        self, file: Path, process: Process, transport: asyncio.SubprocessTransport
    ) -> None:
        self.file = file
        self._process, self._transport = process, transport
        self._stdin: Any = process.stdin
        self._stdout: Any = process.stdout
        self._is_loaded = False
        self._is_asked = False
        # Kept here: the loop holds tasks by weak references alone.
        self._printing = asyncio.ensure_future(self._hand_on(process.stderr))

    @classmethod
    async def start(cls, file: Path) -> Self:
        """Start a process.

        Raises:
            OSError: the system refuses it.
        """
        loop = asyncio.get_running_loop()
        home = str(Path(harness.__file__).parent.parent)
        # What `asyncio.create_subprocess_exec` does, which keeps to itself how pipes are closed.
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(_BUFFER_BYTES, loop),
            # -P: a folder called `harness` where the command was started is not ours.
            *(sys.executable, "-P", "-c", _START, home),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            **own_group(),
        )
        return cls(file, Process(transport, protocol, loop), transport)

    async def _hand_on(self, printed: Any) -> None:
        """Show what the functions print, harmless, as our own standard error does: to a bound."""
        decoder = getincrementaldecoder("utf-8")("replace")
        while data := await printed.read(_BUFFER_BYTES):
            # Nobody may be there to read it.
            with suppress(OSError, ValueError):
                sys.stderr.write(harmless(decoder.decode(data)))

    @property
    def is_alive(self) -> bool:
        """Say whether the process still runs."""
        return self._process.returncode is None

    @property
    def is_usable(self) -> bool:
        """Say whether it waits for a call."""
        return self.is_alive and self._is_loaded and not self._is_asked

    async def grade(self, request: Request) -> Grade:
        """Let the process answer a request; no answer is an error grade."""
        if not self._is_loaded:
            refused = await self._ask(str(self.file), _START_SECONDS)
            if refused is not None:
                return refused
            self._is_loaded = True
        grade = await self._ask(request, request.seconds)
        return grade or error_grade("grader_broke", "its process gave no grade")

    async def _ask(self, value: Any, seconds: float) -> Grade | None:
        self._is_asked = True
        self._stdin.write(frame(await in_thread(pickle.dumps, value)))
        try:
            async with asyncio.timeout(seconds):
                head = await self._stdout.readexactly(LENGTH_BYTES)
                answer = await self._stdout.readexactly(int.from_bytes(head, "big"))
        except EOFError:
            return _ended(await self.exit_code())
        except TimeoutError:
            if self.is_alive:
                return error_grade("grader_timeout", f"took longer than {seconds:g} s")
            # A process that it has started still holds the pipe.
            return _ended(await self.exit_code())
        self._is_asked = False
        return msgspec.json.decode(answer, type=Grade) if answer else None

    def kill(self) -> None:
        """Kill the process and all that it has started; wait for nothing."""
        self._transport.close()
        kill_group(self._process.pid)

    async def exit_code(self) -> int | None:
        """Return the exit code of a process that is about to end; None where it does not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        return self._process.returncode


def _ended(code: int | None) -> Grade:
    return error_grade("grader_broke", f"its process ended with code {code}")
