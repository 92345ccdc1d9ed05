"""The target `letta`: an agent on a Letta server, a fresh one for each trial."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from harness.targets.letta_addresses import address_problems, missing_key
from harness.targets.letta_inline import DEFAULT, InlineAgent
from harness.types.code import CodeFile, CodeRef, SuitePath
from harness.types.errors import Fault
from harness.types.protocols import Connection, RunContext

_SOURCES = ("agent_id", "agent_file", "agent_script", "agent")
_UNKEYED = {"keyed": False}


@dataclass(frozen=True, kw_only=True)
class LettaAgent:
    """Drives agents of a Letta server (0.16) or of Letta Cloud.

    Each attempt gets an agent of its own, which is deleted afterwards. Where it comes from is one
    of `agent_id` (a clone of that agent), `agent_file`, `agent_script` and `agent`. Agents that
    Regrade made bear the run's id as a tag.
    """

    keeps_memory: ClassVar[bool] = True
    takes_history: ClassVar[bool] = False
    scripted_closes: ClassVar[bool] = True

    base_url: str | None = field(
        default=None,
        metadata={
            "description": "Address of the server, such as http://127.0.0.1:8283. By default that "
            "of the environment variable LETTA_BASE_URL, else Letta Cloud's.",
            "pattern": "^https?://.",
        },
    )
    api_key: str | None = field(
        default=None,
        metadata={
            "description": "The key, as `${NAME}` of the environment; by default that of "
            "`api_key_env`.",
            **_UNKEYED,
        },
    )
    api_key_env: str = field(
        default="LETTA_API_KEY",
        metadata={
            "description": "Name of the environment variable that holds the key. Servers without "
            "a password need none.",
            **_UNKEYED,
        },
    )
    project_id: str | None = field(
        default=None,
        metadata={
            "description": "The project of Letta Cloud; by default that of LETTA_PROJECT_ID."
        },
    )
    agent_id: str | None = field(
        default=None,
        metadata={
            "description": "An agent on the server. It is exported once, and each trial runs on a "
            "clone of it; see `in_place`.",
            "min_length": 1,
        },
    )
    agent_file: SuitePath | None = field(
        default=None, metadata={"description": "An agent file (.af), imported for each trial."}
    )
    agent_script: CodeRef | None = field(
        default=None,
        metadata={
            "description": "A function `async (client, sample) -> agent id`, as `file.py:name`."
        },
    )
    agent: InlineAgent | None = field(
        default=None,
        metadata={
            "verbatim": True,
            "description": "What a new agent is made with: `model`, `system`, `memory_blocks`, "
            "`tools` (a Python file whose functions become tools on the server), ...; further keys "
            "are those of Letta's `agents.create`.",
        },
    )
    secrets: dict[str, str] = field(
        default_factory=dict,
        metadata={
            "description": "Environment variables of the agent's tools on the server.",
            **_UNKEYED,
        },
    )
    setup_script: CodeRef | None = field(
        default=None,
        metadata={
            "description": "A function called before the trials: `()`, `(client)`, or "
            "`(client, model)`, once a model."
        },
    )
    in_place: bool = field(
        default=False,
        metadata={
            "description": "Talk to the agent of `agent_id` itself, one trial at a time: its "
            "history and memory change. It is never deleted."
        },
    )
    keep_agents: bool = field(
        default=False,
        metadata={"description": "Leave the trials' agents on the server.", **_UNKEYED},
    )
    keep_agent_state: bool = field(
        default=False,
        metadata={
            "description": "Store all of the agent's final state with the trial, and not only its "
            "memory blocks, tools and tags."
        },
    )
    stream: Literal["steps", "tokens", "off"] = field(
        default="steps", metadata={"description": "How replies arrive.", **_UNKEYED}
    )
    approvals: Literal["deny", "approve", "fail"] = field(
        default="fail",
        metadata={"description": "What is done where the agent asks for approval of a tool."},
    )
    client_tools: CodeFile | None = field(
        default=None,
        metadata={
            "description": "Python file whose public functions are tools that run here. A "
            "parameter named like a fixture receives its object."
        },
    )
    max_steps: int = field(
        default=100,
        metadata={"ge": 1, "description": "How many steps of the agent one turn may take."},
    )
    warm_up: bool = field(
        default=True,
        metadata={
            "description": "Make and delete one agent before the trials, so that what cannot be "
            "made is found before any of them, and the first one is not slower than the rest.",
            **_UNKEYED,
        },
    )

    def __post_init__(self) -> None:
        """Refuse options that do not say which agent.

        Raises:
            ValueError: none is named, or several are.
        """
        given = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"found {found} of {', '.join(_SOURCES)}; exactly one is needed")
        if self.in_place and self.agent_id is None:
            raise ValueError("in_place needs agent_id: other agents are made for each trial")

    @property
    def sessions_at_once(self) -> int | None:
        """Return 1 where all trials talk to one agent."""
        return 1 if self.in_place else None

    def lint(self) -> Iterator[tuple[str, str]]:
        """Yield (option, problem) for options that cannot work."""
        if self.keep_agents and self.in_place:
            yield "keep_agents", "there is nothing to keep: in_place makes no agents"
        for problem in address_problems(self.base_url):
            yield "base_url", problem
        if self.agent is not None and self.agent.is_nested:
            # The types of letta-client take long to import.
            from harness.targets.letta_agent_keys import agent_key_problems  # noqa: PLC0415

            for problem in agent_key_problems(self.agent.body):
                yield "agent", problem

    def lint_models(self, models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield that a new agent would have no model."""
        if self.agent is not None and not self.agent.has_model and models == (DEFAULT,):
            yield "agent", "no model is named; set target.models or agent.model"

    def lint_keys(self, _models: Sequence[str], /) -> Iterator[tuple[str, str]]:
        """Yield that there is no key, where Letta Cloud is asked."""
        yield from missing_key(self.base_url, key=self.api_key, variable=self.api_key_env)

    def check(self, fixture_names: frozenset[str]) -> Iterator[Fault]:
        """Yield what is wrong with the agent file, and with functions that are to be tools."""
        # Schemas of tools are made by pydantic, which `regrade --help` goes without.
        from harness.targets.letta_faults import agent_faults  # noqa: PLC0415

        yield from agent_faults(self, fixture_names)

    @asynccontextmanager
    async def connect(self, run_context: RunContext) -> AsyncIterator[Connection]:
        """Connect once a run, and delete what is left of it at the end.

        Raises:
            SuiteError: with the faults that `check` finds.
            TargetError: the server cannot be asked, or the agent cannot be made.
        """
        # The client takes long to import; `regrade --help` goes without it.
        from harness.targets.letta_connection import LettaConnection  # noqa: PLC0415

        connection = LettaConnection(self, run_context)
        try:
            await connection.begin()
            yield connection
        finally:
            await connection.close()

    async def clean(self, run_id: str) -> Sequence[str]:
        """Delete what bears both tags of a run, and nothing else.

        Raises:
            TargetError: the server cannot be asked, or does not do it.
        """
        from harness.targets.letta_connection import clean_server  # noqa: PLC0415

        return await clean_server(self, run_id)
