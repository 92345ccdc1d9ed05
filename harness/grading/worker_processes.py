"""Worker processes for custom graders with `isolation: process`: what overruns is killed.

A worker imports the function's file and answers one call after the other; it is used again for
the next trial. What goes in and out is described in `grader_worker`.
"""

import asyncio
import atexit
import inspect
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

import harness
from harness.grading.broken_graders import broken
from harness.grading.grader_worker import FunctionPlace, read_frame, write_frame
from harness.system.threads import in_thread
from harness.types.grades import Grade

_START_SECONDS = 60.0
"""How long a worker may take to import the suite's file; the grader's own time starts later."""

_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from harness.grading.grader_worker import main; main()"
)


class _Worker:
    """One process that has imported one file."""

    def __init__(self, place: FunctionPlace) -> None:
        home = str(Path(harness.__file__).parent.parent)
        # -P: a folder called `harness` where the command was started is not ours.
        self._process = subprocess.Popen(  # noqa: S603  (our own interpreter and module)
            [sys.executable, "-P", "-c", _START, home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._place = place
        self.ended = False

    def load(self) -> bytes:
        """Import the file; give an error grade as JSON, or nothing."""
        return self.ask(self._place)

    def ask(self, value: Any) -> bytes:
        """Send a value and wait for the answer.

        Raises:
            EOFError: the process has ended.
        """
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise EOFError
        try:
            write_frame(process.stdin, pickle.dumps(value))
            return read_frame(process.stdout)
        except (OSError, ValueError) as error:
            raise EOFError from error

    def end(self) -> int:
        """Kill the process, and give its exit code."""
        self.ended = True
        self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue
        return code

    def end_code(self) -> int:
        """Give the exit code of a process that has closed its pipe by itself."""
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return self.end()
        self.end()
        return code


class WorkerProcesses:
    """The workers of this process; as many as there are calls at once."""

    def __init__(self) -> None:
        self._idle: dict[FunctionPlace, list[_Worker]] = {}
        self._lock = threading.Lock()
        atexit.register(self.close)

    async def call(
        self, function: Callable[..., Any], arguments: Mapping[str, Any], *, seconds: float
    ) -> Grade:
        """Let a worker call a function and grade with what it returns; kill it on overrun."""
        place = _place(function)
        worker = self._take(place)
        if worker is None:
            worker = _Worker(place)
            refused = await _bounded(worker, worker.load, _START_SECONDS)
            if refused is not None:
                worker.end()
                return refused
        ask = partial(worker.ask, dict(arguments))
        grade = await _bounded(worker, ask, seconds)
        if not worker.ended:
            with self._lock:
                self._idle.setdefault(place, []).append(worker)
        return grade or broken("grader_broke", "its process gave no grade")

    def _take(self, place: FunctionPlace) -> _Worker | None:
        with self._lock:
            idle = self._idle.get(place)
            return idle.pop() if idle else None

    def close(self) -> None:
        """End all workers that wait for work."""
        with self._lock:
            workers = [worker for idle in self._idle.values() for worker in idle]
            self._idle.clear()
        for worker in workers:
            worker.end()


async def _bounded(worker: _Worker, ask: Callable[[], bytes], seconds: float) -> Grade | None:
    """Wait for an answer; a worker that gives none in time, or is no longer wanted, is killed."""
    try:
        async with asyncio.timeout(seconds):
            answer = await in_thread(ask)
    except TimeoutError:
        worker.end()
        return broken("grader_timeout", f"took longer than {seconds:g} s")
    except EOFError:
        code = worker.end_code()
        return broken("grader_broke", f"its process ended with code {code}")
    except BaseException:
        worker.end()
        raise
    return msgspec.json.decode(answer, type=Grade) if answer else None


def _place(function: Callable[..., Any]) -> FunctionPlace:
    plain = inspect.unwrap(function)
    name = getattr(plain, "__qualname__", "")
    return FunctionPlace(file=str(inspect.getsourcefile(plain)), name=name)


call_in_process = WorkerProcesses().call
"""Call a custom grader in a worker process: `await call_in_process(function, arguments, ...)`."""
