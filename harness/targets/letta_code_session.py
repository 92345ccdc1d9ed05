"""One conversation with Letta Code: a process of the command a turn, told the prompt by stdin.

One process a turn, because lines that are sent to one process together become one turn, and because
nothing of a turn can then hold up the next. The conversation goes on by its id.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.system.child_commands import ChildCommand, TooLongLineError, TooMuchOutputError
from harness.system.child_environment import TRIAL_MARK
from harness.system.json_values import load_json
from harness.system.processes import kill_marked
from harness.system.redaction import redact_json
from harness.system.scratch_folders import remove_folder
from harness.system.texts import error_line, one_line
from harness.system.threads import in_thread
from harness.targets.letta_code_backends import model_arguments, who_arguments
from harness.targets.letta_code_failures import (
    ended_failure,
    start_failure,
    torn_failure,
    turn_failure,
)
from harness.targets.letta_code_flags import later_flags
from harness.targets.letta_code_folders import collect_files, forget_keys
from harness.targets.letta_code_memory import local_memory, read_blocks, server_memory
from harness.targets.letta_code_trials import (
    CodeTrial,
    Shared,
    common_arguments,
    in_memory,
    suite_flags,
)
from harness.targets.letta_code_turns import CodeTurn
from harness.targets.letta_tags import run_tags
from harness.types.errors import TargetError
from harness.types.protocols import Record

if TYPE_CHECKING:
    from harness.targets.letta_code_server import CodeServer
    from harness.targets.letta_leftovers import MadeAgent

_WIDTH = 500


class LettaCodeSession:
    """A conversation with an agent of its own.

    `server` is where the agent lives; None for the local backend, in the trial's home folder.
    """

    def __init__(self, shared: Shared, trial: CodeTrial, server: "CodeServer | None") -> None:
        self._shared, self._trial, self._server = shared, trial, server
        self._agent_id: str | None = None
        self._conversation_id: str | None = None
        self._from_factory: MadeAgent | None = None
        self._command: ChildCommand | None = None
        self._is_begun = False

    async def prepare(self) -> None:
        """Make the agent where a factory makes it, or where its memory is where it shall work.

        Raises:
            TargetError: it cannot be made.
        """
        script, wanted = self._shared.agent.agent_script, self._shared.agent.memory_workspace
        if script is not None and self._server is not None:
            self._from_factory = await self._server.make_agent(script, self._trial.context.sample)
            self._agent_id = self._from_factory.id
        elif wanted and self._trial.memory is None:
            self._agent_id = await self._make_agent()
        if wanted and self._trial.memory is None:
            self._trial = await in_thread(in_memory, self._trial, self._memory())

    async def send(self, text: str, record: Record) -> None:
        """Take one turn.

        Raises:
            TargetError: the command failed, or there is no answer.
        """
        prompt = text.replace("{pwd}", self._trial.pwd.as_posix())
        if not prompt.strip():
            raise TargetError("the prompt is empty, which Letta Code refuses", code="bad_request")
        turn = CodeTurn(record, self._trial.secrets)
        if prompt != text:
            turn.tell_folder(self._trial.pwd)
        command = await self._start(self._arguments(), prompt)
        try:
            await _read(command, turn)
        finally:
            # Also of a turn that was cut: what it has done so far counts, and the command is told.
            turn.finish()
            self._remember(turn)
            command.ask_to_end()
        await command.end()
        error = turn_failure(
            turn.lines,
            exit_code=command.exit_code,
            errors=command.errors,
            asked=turn.asked_again,
            secrets=self._trial.secrets,
        )
        if error is None and turn.torn is not None:
            error = torn_failure(turn.torn, self._trial.secrets)
        if error is not None:
            raise error

    async def start_session(self) -> None:
        """Begin a new conversation with the same agent."""
        self._conversation_id = None

    async def final_state(self) -> Mapping[str, Any]:
        """Return the agent's memory blocks, ids and files, and which command it was.

        Raises:
            TargetError: its memory cannot be read.
        """
        agent, trial = self._shared.agent, self._trial
        state: dict[str, Any] = {
            "agent_id": self._agent_id,
            "conversation_id": self._conversation_id,
            "model": trial.model,
            "backend": trial.backend,
            "command": {"name": "letta", "version": self._shared.version},
            "blocks": await self._blocks(),
        }
        if agent.collect:
            collected = await in_thread(collect_files, trial.work, agent.collect)
            state["files"] = collected.files
            if collected.problem is not None:
                state["files_problem"] = collected.problem
        if agent.keep_files:
            state["folder"] = str(trial.folders.root)
        return {key: redact_json(value, trial.secrets) for key, value in state.items()}

    async def close(self) -> None:
        """End whatever the agent has left running; delete its folders, and itself on a server."""
        try:
            if self._command is not None:
                await self._command.end()
            await in_thread(kill_marked, TRIAL_MARK, self._trial.mark)
            await self._discard_agent()
        finally:
            if self._shared.agent.keep_files:
                await in_thread(forget_keys, self._trial.folders.home)
            else:
                await in_thread(remove_folder, self._trial.folders.root)

    async def _discard_agent(self) -> None:
        if self._server is None or self._agent_id is None:
            return
        if self._from_factory is not None:
            await self._server.discard(self._from_factory)
        else:
            await self._server.discard_made(self._agent_id)

    def _arguments(self) -> list[str]:
        shared, trial = self._shared, self._trial
        flags = suite_flags(shared.agent, shared.folder)
        goes_on = self._conversation_id is not None
        tags = run_tags(shared.run_context.run_id) if trial.backend == "server" else []
        return [
            *who_arguments(self._agent_id, self._conversation_id, tags),
            *([] if goes_on else model_arguments(shared.agent, trial.model)),
            *common_arguments(shared.agent),
            *(later_flags(flags) if self._is_begun else flags),
            *("--output-format", "stream-json", "-p"),
        ]

    async def _start(self, arguments: list[str], text: str = "") -> ChildCommand:
        backend = "local" if self._trial.backend == "local" else "cloud"
        try:
            self._command = await ChildCommand.start(
                [*self._shared.argv, "--backend", backend, *arguments],
                cwd=self._trial.work,
                environment=self._trial.environment,
                text=text,
            )
        except (OSError, ValueError) as error:
            raise start_failure(error) from error
        return self._command

    def _remember(self, turn: CodeTurn) -> None:
        init = turn.lines.init
        if init is None:
            return
        self._is_begun = True
        self._agent_id = init.agent_id or self._agent_id
        self._conversation_id = init.conversation_id or self._conversation_id

    async def _make_agent(self) -> str:
        """Let the command make an agent without a conversation, so that its memory is there."""
        shared, trial = self._shared, self._trial
        tags = run_tags(shared.run_context.run_id) if trial.backend == "server" else []
        model = model_arguments(shared.agent, trial.model)
        tagged = ["--tags", ",".join(tags)] if tags else []
        command = await self._start(["agents", "create", *model, *tagged])
        with _bounded():
            printed = b"".join([line async for line in command.lines()])
        await command.end()
        try:
            return str(load_json(printed)["id"])
        except (ValueError, KeyError, TypeError) as error:
            said = command.errors or printed.decode(errors="replace")
            raise ended_failure(command.exit_code, said, trial.secrets) from error

    def _memory(self) -> Path:
        place = local_memory if self._trial.backend == "local" else server_memory
        return place(self._trial.folders.home, self._agent_id or "")

    async def _blocks(self) -> list[Any]:
        if self._agent_id is None:
            return []
        if self._server is not None:
            return await self._server.blocks(self._agent_id)
        try:
            return await in_thread(read_blocks, self._memory())
        except (OSError, RecursionError, ValueError) as error:
            # The agent writes these files itself: what it makes of them is its own doing.
            message = f"the agent's memory cannot be read: {error_line(error)}"
            raise TargetError(one_line(message, _WIDTH), code="agent_crash") from error


async def _read(command: ChildCommand, turn: CodeTurn) -> None:
    with _bounded():
        async for line in command.lines():
            turn.take(line)


@contextmanager
def _bounded() -> Iterator[None]:
    """Raise the `TargetError` of a command that prints without end."""
    try:
        yield
    except TooMuchOutputError as error:
        code = "bad_reply" if isinstance(error, TooLongLineError) else "agent_crash"
        raise TargetError(f"letta: {error}", code=code) from error
