"""One conversation with a command agent: a process that is told a line a turn."""

import errno
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from harness.system.child_commands import ChildCommand, TooMuchOutputError
from harness.system.child_environment import TRIAL_MARK
from harness.system.json_values import scrub_json
from harness.system.processes import Process, family_of, kill_marked, process_of
from harness.system.redaction import redact_json, redacted_line
from harness.system.scratch_folders import remove_folder
from harness.system.texts import error_line
from harness.system.threads import in_thread
from harness.targets.command_answers import CommandAnswers
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext, Record

_GRACE_SECONDS = 1.0
"""How long a program may take to end by itself, and again after it was asked to."""

_WIDTH = 500
_NEVER = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR, errno.EPERM})
"""Why a program cannot be started that can never be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How the program of one trial is started; `secrets` are values that must not be stored.

    `mark` tells its processes from all others; `removes_cwd` says that its folder is its own.
    """

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    mark: str
    protocol: str
    most_bytes: int
    secrets: tuple[str, ...]
    removes_cwd: bool


class CommandSession:
    """A conversation with a process of its own."""

    def __init__(self, start: Start, context: AttemptContext) -> None:
        self._start, self._context = start, context
        self._answers = CommandAnswers(start.protocol, start.secrets)
        self._command: ChildCommand | None = None
        self._process: Process | None = None
        self._pieces: AsyncIterator[bytes] | None = None
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._turn = -1
        self._is_at_end = False

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: the program cannot be started or has failed, or there is no answer.
        """
        self._turn += 1
        answers = self._answers
        answers.begin(record)
        command = self._command or await self._begin()
        command.say(self._line(text), is_last=self._is_last)
        is_over = False
        try:
            is_over = await self._read()
        finally:
            # Also of a turn that was cut: what it has done so far counts.
            answers.finish(b"" if is_over else bytes(self._rest))
            if self._is_at_end:
                await command.last_words()
            said = command.take_errors()
            answers.tell_errors(said)
        self._judge(command, said)

    async def final_state(self) -> Mapping[str, Any] | None:
        """Return the state that the agent has told last; None where it told none."""
        state = self._answers.state
        return None if state is None else redact_json(state, self._start.secrets)

    async def close(self) -> None:
        """End the process and whatever it has left running; delete its folder, if it has one."""
        try:
            if self._command is not None:
                await self._end(self._command)
        finally:
            if self._start.removes_cwd:
                await in_thread(remove_folder, self._start.cwd.parent)

    async def _end(self, command: ChildCommand) -> None:
        family: frozenset[Process] = frozenset()
        if command.exit_code is None:
            # Now, since nobody knows whose they were when their parents have ended.
            family = await in_thread(family_of, command.pid)
        try:
            if self._answers.ended and self._is_last:
                # Its input has ended: it may write down what it has learnt.
                await command.ended(_GRACE_SECONDS)
            await command.end(_GRACE_SECONDS)
        finally:
            since = None if self._process is None else self._process.started
            await in_thread(kill_marked, TRIAL_MARK, self._start.mark, family, since=since)

    @property
    def _is_last(self) -> bool:
        return self._turn == len(self._context.sample.turns) - 1

    async def _begin(self) -> ChildCommand:
        start = self._start
        try:
            self._command = await ChildCommand.start(
                start.argv, cwd=start.cwd, environment=start.environment, text=None
            )
        except (OSError, ValueError) as error:
            raise refused(f"{Path(start.argv[0]).name} cannot be started", error) from error
        self._process = process_of(self._command.pid)
        self._pieces = self._command.pieces(start.most_bytes)
        return self._command

    def _line(self, text: str) -> bytes:
        if self._start.protocol == "text":
            return text.encode(errors="replace")
        told = {"type": "user_message", "turn": self._turn, "text": text}
        if self._turn == 0:
            told |= _facts(self._context)
        return msgspec.json.encode(scrub_json(told)) + b"\n"

    async def _read(self) -> bool:
        """Read until the turn is over; say so, since a time limit may end it before."""
        answers = self._answers
        try:
            while not answers.ended and answers.failure is None:
                line = await self._next_line()
                if line is None:
                    break
                answers.take(line)
        except TooMuchOutputError as error:
            hint = "target.max_output_mb says how much it may be"
            raise TargetError(f"the program: {error}", code="agent_crash", hint=hint) from error
        return True

    async def _next_line(self) -> bytes | None:
        """Return the next line; None where the program has ended."""
        while not self._lines:
            piece = None if self._pieces is None else await anext(self._pieces, None)
            if piece is None:
                return self._last_line()
            *whole, rest = piece.split(b"\n")
            if whole:
                self._lines.append(bytes(self._rest) + whole[0])
                self._lines.extend(whole[1:])
                self._rest.clear()
            self._rest += rest
        return self._lines.popleft()

    def _last_line(self) -> bytes | None:
        """Return a last line without its end, and then None."""
        rest, self._is_at_end = bytes(self._rest), True
        self._rest.clear()
        return rest or None

    def _judge(self, command: ChildCommand, said: str) -> None:
        """Raise the error of a turn that has not ended well."""
        answers = self._answers
        if answers.failure is not None:
            raise self._made(str(answers.failure), answers.failure.code, answers.failure)
        if answers.problem is not None:
            raise self._made(answers.problem, "agent_contract")
        if answers.ended:
            return
        where = self._where()
        is_text = answers.has_spoken and not answers.reads_events
        if is_text and not self._is_last and command.exit_code == 0:
            problem = f"the program printed plain text{where}, which answers one turn only"
            raise self._made(f"{problem}; print events, and turn_end", "agent_contract")
        if command.exit_code != 0 or not answers.has_spoken or not self._is_last:
            without = "" if answers.has_spoken else " without an answer"
            ended = f"the program ended{without}{where} ({_describe(command.exit_code)})"
            told = f": {_last_lines(said)}" if said.strip() else ""
            raise self._made(f"{ended}{told}", "agent_crash")

    def _where(self) -> str:
        turns = len(self._context.sample.turns)
        return f" in turn {self._turn + 1} of {turns}" if turns > 1 else ""

    def _made(self, text: str, code: str, told: TargetError | None = None) -> TargetError:
        shown = redacted_line(text, _WIDTH, self._start.secrets)
        return TargetError(shown, code=code, retry_after=told.retry_after if told else None)


def refused(what: str, error: Exception) -> TargetError:
    """Return the error of what the system refuses: for ever, or for now."""
    never = isinstance(error, ValueError) or getattr(error, "errno", None) in _NEVER
    # Out of processes, memory or open files, the next attempt may find some.
    code = "not_found" if never else "overloaded"
    return TargetError(redacted_line(f"{what}: {error_line(error)}", _WIDTH), code=code)


def _facts(context: AttemptContext) -> dict[str, Any]:
    sample = context.sample
    return {
        "sample_id": sample.id,
        "model": context.model,
        "epoch": context.epoch,
        "attempt": context.attempt,
        "seed": seed_of(sample.id, context.model, context.epoch),
        "turns": len(sample.turns),
        "history": sample.history,
        "agent_args": sample.agent_args,
        "extra_vars": sample.extra_vars,
    }


def seed_of(sample_id: str, model: str, epoch: int) -> int:
    """Return a seed in 0..2^31-1 that is the same for every attempt of a trial, and every run."""
    digest = sha256(msgspec.json.encode(scrub_json([sample_id, model, epoch]))).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _last_lines(said: str) -> str:
    """Return the end of what was said on stderr, which is where the reason stands."""
    return said.strip()[-_WIDTH // 2 :]


def _describe(exit_code: int | None) -> str:
    if exit_code is None:
        return "its exit code is not known"
    if exit_code < 0:
        with suppress(ValueError):
            return f"signal {signal.Signals(-exit_code).name}"
    return f"exit code {exit_code}"
