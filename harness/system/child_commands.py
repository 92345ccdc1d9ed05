"""Commands that are told a text and answer in lines, and that end whatever they do.

What a command prints is taken while it runs, its input written beside, so that neither waits for
the other. Lines and their sum are bounded; of what it says on stderr the end is kept. A command
that has ended is not waited for because a process that it has started still holds its output.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from harness.system.clock import monotonic
from harness.system.processes import ask_group, kill_group, own_group

LINE_BYTES = 2**24
"""How long a line may be."""

OUTPUT_BYTES = 2**28
"""How much a command may print in all."""

_KEPT_ERRORS = 2**14
_PAUSE_BYTES = 2**20
_REST_SECONDS = 1.0
_LAST_WORDS_SECONDS = 0.3
_GRACE_SECONDS = 2.0
_END_SECONDS = 5.0


class TooMuchOutputError(Exception):
    """The command prints without end."""


class TooLongLineError(TooMuchOutputError):
    """The command prints a line that is longer than a line may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A command that has ended: its exit code, what it printed, the end of what it said."""

    exit_code: int | None
    output: str
    errors: str


class _Listener(asyncio.SubprocessProtocol):
    """Takes what a process prints, and notes its end; asyncio calls it."""

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.ended = asyncio.Event()
        self.output: deque[bytes] = deque()
        self.errors = bytearray()
        self.errors_ended = asyncio.Event()
        self.waiting = 0
        self.is_open = True
        self._pipe: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pipe = cast("asyncio.SubprocessTransport", transport).get_pipe_transport(1)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.output.append(data)
            self.waiting += len(data)
            if self.waiting > _PAUSE_BYTES:
                self._pipe.pause_reading()
            self.news.set()
        else:
            self.errors += data
            del self.errors[:-_KEPT_ERRORS]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 1:
            self.is_open = False
            self.news.set()
        elif fd == 2:  # noqa: PLR2004  (stderr)
            self.errors_ended.set()

    def process_exited(self) -> None:
        self.ended.set()
        self.news.set()

    def take(self) -> bytes:
        """Return the oldest piece of the output."""
        piece = self.output.popleft()
        self.waiting -= len(piece)
        if self.waiting <= _PAUSE_BYTES:
            self._pipe.resume_reading()
        return piece


class ChildCommand:
    """One run of a command, in a process group of its own."""

    def __init__(self, transport: asyncio.SubprocessTransport, listener: _Listener) -> None:
        self._transport, self._listener = transport, listener

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        text: str | None = "",
    ) -> Self:
        """Start a command; `text` is its whole input, as UTF-8; None for one that is told by `say`.

        Raises:
            OSError: there is no such program, or the system refuses it.
        """
        transport, listener = await asyncio.get_running_loop().subprocess_exec(
            _Listener, *argv, cwd=cwd, env=dict(environment), **own_group()
        )
        command = cls(transport, listener)
        if text is not None:
            command.say(text.encode(errors="replace"), is_last=True)
        return command

    def say(self, words: bytes, *, is_last: bool) -> None:
        """Write to its input, which ends after what is last; wait for nothing.

        A command that reads no more is told nothing.
        """
        stdin: Any = self._transport.get_pipe_transport(0)
        if stdin.is_closing():
            return
        stdin.write(words)
        if is_last:
            # What is still to be written is written first.
            stdin.close()

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._transport.get_pid() or 0

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._transport.get_returncode()

    @property
    def errors(self) -> str:
        """Return the end of what it has said on stderr."""
        return self._listener.errors.decode(errors="replace")

    def take_errors(self) -> str:
        """Return the end of what it has said on stderr since this was last asked."""
        said = self.errors
        self._listener.errors.clear()
        return said

    async def last_words(self) -> None:
        """Wait a moment for what a command that has ended has said on stderr."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                await self._listener.ended.wait()
                await self._listener.errors_ended.wait()

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines it prints, without their ends, until it has ended.

        Raises:
            TooMuchOutputError: it has printed more than `OUTPUT_BYTES`.
            TooLongLineError: a line has more than `LINE_BYTES`.
        """
        line = bytearray()
        async for piece in self.pieces(OUTPUT_BYTES):
            *whole, rest = piece.split(b"\n")
            for part in whole:
                yield bytes(_longer(line, part))
                line.clear()
            _longer(line, rest)
        if line:
            yield bytes(line)

    async def pieces(self, most: int) -> AsyncIterator[bytes]:
        """Yield what it prints as it comes, until it has ended.

        Raises:
            TooMuchOutputError: it has printed more than `most` bytes.
        """
        total = 0
        async for piece in self._pieces():
            total += len(piece)
            if total > most:
                raise TooMuchOutputError(f"it has printed more than {most >> 20} MiB")
            yield piece

    async def _pieces(self) -> AsyncIterator[bytes]:
        listener = self._listener
        until: float | None = None
        while True:
            listener.news.clear()
            while listener.output:
                yield listener.take()
            if not listener.is_open and listener.ended.is_set():
                return
            if until is None and listener.ended.is_set():
                # Others may hold the output open, and print for ever.
                until = monotonic() + _REST_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(None if until is None else until - monotonic()):
                    await listener.news.wait()
            if until is not None and monotonic() >= until:
                return

    def ask_to_end(self) -> None:
        """Ask the command, and its group, to end; wait for nothing."""
        if self.exit_code is None:
            ask_group(self.pid)

    async def ended(self, seconds: float) -> bool:
        """Wait that long for the command to end by itself; say whether it has."""
        await self._wait(seconds)
        return self._listener.ended.is_set()

    async def end(self, grace_seconds: float | None = None) -> None:
        """End the command and its group: asked first, then killed; return when it is gone."""
        if self.exit_code is None:
            ask_group(self.pid)
            await self._wait(_GRACE_SECONDS if grace_seconds is None else grace_seconds)
        kill_group(self.pid)
        await self._wait(_END_SECONDS)
        self._transport.close()
        # The pipes are closed by the loop.
        await asyncio.sleep(0)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._listener.ended.wait()


def _longer(line: bytearray, part: bytes) -> bytearray:
    """Add to a line, which may not get too long."""
    line += part
    if len(line) > LINE_BYTES:
        raise TooLongLineError(f"it has printed a line of more than {LINE_BYTES >> 20} MiB")
    return line


async def run_command(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], text: str = ""
) -> Finished:
    """Run a command to its end, which also comes when the caller is cancelled.

    Raises:
        OSError: there is no such program, or the system refuses it.
        TooMuchOutputError: it has printed more than `OUTPUT_BYTES`.
    """
    command = await ChildCommand.start(argv, cwd=cwd, environment=environment, text=text)
    try:
        printed = [line async for line in command.lines()]
    finally:
        await command.end()
    output = b"\n".join(printed).decode(errors="replace")
    return Finished(exit_code=command.exit_code, output=output, errors=command.errors)
