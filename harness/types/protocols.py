"""What a plug-in meets: graders, extractors and targets, our own included.

A plug-in is a frozen dataclass whose fields are its options in the YAML. It is listed in a plain
mapping from its name, and the mapping is named by an entry point of the group
`regrade.graders`, `regrade.extractors` or `regrade.targets`.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import msgspec

from harness.types.errors import Fault
from harness.types.events import Event
from harness.types.grades import Grade, Ref
from harness.types.prices import NoPrices, PriceList
from harness.types.samples import Sample
from harness.types.taxonomy import Taxonomy
from harness.types.trajectories import Step, Trajectory
from harness.types.trials import TrialFacts

AGENT_STATE = "agent_state"
"""The snapshot that holds the end state of the agent; no fixture has this name."""


class Submission(msgspec.Struct, frozen=True):
    """The text an extractor took out of a trajectory, and the events it came from.

    `spans` says which characters of `text` came from each of `refs`, so that graders can point at
    a part of it; an extractor may leave it empty.
    """

    text: str
    refs: tuple[Ref, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()


class Subject(msgspec.Struct, frozen=True):
    """What a grader judges.

    `trajectory` is the conversation, or the turn that was cut out of it. `submission` is None
    for graders that read the trajectory. `snapshots` is the end state of the trial's fixtures by
    name, and under `AGENT_STATE` that of the agent, where its target tells it. `facts` are about
    the trial as a whole.
    """

    sample: Sample
    trajectory: Trajectory
    submission: Submission | None = None
    snapshots: Mapping[str, Any] = {}
    facts: TrialFacts = TrialFacts()


Reads = Literal["submission", "trajectory"]
"""What a grader works on: the extracted text, or the whole conversation."""


class Extractor(Protocol):
    """Reduces a trajectory to the text to be graded."""

    def extract(self, trajectory: Trajectory, /) -> Submission:
        """Return the text; empty where there is nothing to grade."""
        ...


@runtime_checkable
class SubjectExtractor(Protocol):
    """An extractor that also needs the end state of fixtures or agent; in place of `extract`."""

    def extract_from(self, subject: Subject, /) -> Submission:
        """Return the text; empty where there is nothing to grade.

        Raises `GraderError` where the state that it needs is not stored.
        """
        ...


class Grader(Protocol):
    """Judges one subject.

    `reads` says what it works on: graders of a `submission` get one from an extractor. Patterns
    are searched through `harness.system.patterns`, which keeps the time limit. It raises
    `GraderError` where it cannot judge, and nothing else on any subject.
    """

    taxonomy: ClassVar[Taxonomy]
    reads: ClassVar[Reads]

    def grade(self, subject: Subject, /) -> Grade:
        """Return the judgement; `passed` may be left to the threshold."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingContext:
    """What a run or a replay offers its connected graders.

    `concurrency` is how many trials are graded at once, `max_wait_seconds` how long one grade may
    wait for an endpoint that asks for it. `serve_script` serves the scripted models of a script
    until the end, None for that of the suite's target, and returns their base URL; it raises
    `GraderError`. `warn` adds a warning to the summary. `prices` knows what models cost.
    Where `keeps_nothing` is true, the suite takes out of trials what must not be stored: graders
    keep nothing of them anywhere, such as in a cache.
    """

    concurrency: int
    max_wait_seconds: float
    serve_script: Callable[[Path | None], Awaitable[str]]
    warn: Callable[[str], None]
    prices: PriceList = field(default_factory=NoPrices)
    keeps_nothing: bool = False


class ConnectedGrader(Protocol):
    """A grader that asks somebody else, such as a language model, and waits for the answer.

    It has `connect` and `grade_with` in place of `grade`, keeps its own time limits, and runs
    beside the other graders of a trial.
    """

    taxonomy: ClassVar[Taxonomy]
    reads: ClassVar[Reads]

    @classmethod
    def connect(cls, context: GradingContext, /) -> AbstractAsyncContextManager[Any]:
        """Open what all graders of the class share, once a run, when it is first needed.

        It is closed at the end of the run, by the task that opened it.
        """
        ...

    async def grade_with(self, connection: Any, subject: Subject, /) -> Grade:
        """Return the judgement, over what `connect` has opened.

        Raises `GraderError` where it cannot judge; a grade of status `error` may say more.
        """
        ...


class ScriptedGrader(Protocol):
    """A grader that may ask a scripted model; meeting it is optional."""

    @property
    def scripted_model(self) -> tuple[Path | None, str] | None:
        """Return the script, None for that of the target, and the model's name without prefix.

        None where it asks no scripted model.
        """
        ...


class CombiningGrader(Protocol):
    """A grader that makes one grade of the grades of others; it has `combine` in place of `grade`.

    `parts_option` names the option that holds the entries of those graders: a mapping or a list of
    several, or a single entry where `parts_single` is true. They see what the grader would see;
    where they are told apart it is by name.
    """

    taxonomy: ClassVar[Taxonomy]
    reads: ClassVar[Reads]
    parts_option: ClassVar[str]
    parts_single: ClassVar[bool]

    def combine(self, grades: Mapping[str, Grade], /) -> Grade:
        """Return the judgement; each grade of a part says whether the part passed."""
        ...


class NarrowGrader(Protocol):
    """A grader that declares what it uses of a sample; meeting it is optional.

    `uses` names the fields beside `ground_truth` and `rubric_vars`; empty for none. Its stored
    grades hold when any other field changes. Those of a grader without it hold for the same
    sample only.
    """

    uses: ClassVar[tuple[str, ...]]


class Linted(Protocol):
    """A plug-in that can say more of its options than their types do; meeting it is optional."""

    def lint(self) -> Iterable[tuple[str, str]]:
        """Return (option, problem) for options that cannot work, such as an invalid pattern.

        `validate` reports them as faults; `run` and `grade` warn of them and go on. The grades of
        such a grader are failing ones, and a run that it decides is not complete.
        """
        ...


class KeyNeeding(Protocol):
    """A plug-in that needs a key from the environment; meeting it is optional."""

    def lint_keys(self, models: Sequence[str], /) -> Iterable[tuple[str, str]]:
        """Return (option, problem) for keys that are not there; an empty option names none.

        `models` are those of the target, and empty for a grader. `validate` reports them as
        faults. Of a grader's `run` and `grade` warn: without its key its grades are errors, yet
        stored ones still hold.
        """
        ...


class ModelLinted(Protocol):
    """A target that can say whether its options fit its models; meeting it is optional."""

    def lint_models(self, models: Sequence[str], /) -> Iterable[tuple[str, str]]:
        """Return (option, problem); reported as `Linted` says.

        `models` are those of the suite, `("default",)` where it names none.
        """
        ...


class OwnThreshold(Protocol):
    """A grader with an option that takes the place of the entry's `threshold`; optional.

    `threshold_option` names it; an entry that gives both is refused.
    """

    threshold_option: ClassVar[str]


class RunLinted(Protocol):
    """A grader some of whose options should meet something in a run; meeting it is optional.

    Its grades list in `details.unmatched` the names and patterns among its options that met
    nothing. What every grade of a run lists becomes a warning of the run: it may be misspelt.
    """

    expects_matches: ClassVar[bool]


class JsonNumbered(Protocol):
    """A plug-in with options that hold any JSON; meeting it is optional.

    Where `json_numbers` is true, `1.10` in them is a number, not the text that was written.
    """

    json_numbers: ClassVar[bool]


class SampleLinted(Protocol):
    """A grader that can say beforehand that a sample cannot be graded; optional."""

    def lint_sample(self, sample: Sample, /) -> Iterable[tuple[str, str]]:
        """Return (field of the sample, problem); reported as `Linted` says."""
        ...


class FixtureAware(Protocol):
    """A target that can check the user's code once the suite's fixtures are known; optional."""

    def check(self, fixture_names: frozenset[str], /) -> Iterable[Fault]:
        """Return a fault for each mistake that would keep the target from connecting.

        `fixture_names` are the parameters that fixtures will fill. A fault's file is the user's
        Python file as the suite names it. Faults refuse the suite when it is loaded.
        """
        ...


Record = Callable[[Event | Step], None]
"""Adds an event, or the numbers of one model reply, to the turn that is being driven."""

Paced = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Makes one request when its turn has come, and returns what it returns."""


async def unpaced(request: Callable[[], Awaitable[Any]]) -> Any:
    """Make a request at once."""
    return await request()


class AttemptContext(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt, as a target receives it.

    `fixtures` are the objects of the suite's fixtures by name. `wait` sleeps that many seconds
    without charging the time limits: only for what the endpoint asked to wait. It raises
    `TargetError` where the suite does not allow so long a wait. `paced` makes one request to the
    model as soon as the suite's rates allow it, without charging the time limits; it raises what
    the request raises, and `TargetError` where the run has no money left for it. A session whose
    attribute `paces_requests` is true makes every request so; of any other a turn counts as one.
    """

    sample: Sample
    model: str
    epoch: int
    attempt: int
    fixtures: Mapping[str, Any]
    wait: Callable[[float], Awaitable[None]]
    paced: Paced = unpaced


class Session(Protocol):
    """One conversation with one clean agent."""

    async def send(self, text: str, record: Record, /) -> None:
        """Take one turn: say `text` to the agent, record what it does until it has answered.

        The user's message is recorded already. Raises `TargetError`.
        """
        ...

    async def close(self) -> None:
        """Return up the agent; called once, also after an error or a time limit."""
        ...


class SessionStarter(Protocol):
    """A session whose agent has a memory of its own; meeting it is optional.

    The class of its target has an attribute `keeps_memory` that is true.
    """

    async def start_session(self) -> None:
        """Let the agent forget the conversation and keep its memory. Raises `TargetError`."""
        ...


class Stateful(Protocol):
    """A session that can tell the end state of its agent; meeting it is optional."""

    async def final_state(self) -> Mapping[str, Any] | None:
        """Return the state after the last turn, as JSON values; None where there is none to tell.

        It is stored with the trial as the snapshot `AGENT_STATE`. Raises `TargetError`.
        """
        ...


class Connection(Protocol):
    """What the trials of a run share: clients, pools, a server."""

    async def open(self, context: AttemptContext, /) -> Session:
        """Open a session for one attempt."""
        ...


def _silent(_warning: str) -> None:
    """Hear nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a run offers its target.

    `scripted_url` is the base URL of the scripted model server, where the suite has models that
    are called `scripted/...`. `fixture_names` are the parameters that fixtures will fill.
    `concurrency` is how many sessions may be open at once.
    `models` are the models of the run; empty where they are not known beforehand.
    `run_id` names the run, so that what a target leaves on a server can be found again. `warn`
    adds a line to the warnings of the run. `folder` is that of the suite, where paths start that
    stand inside other options.
    """

    scripted_url: str | None
    fixture_names: frozenset[str]
    concurrency: int
    models: tuple[str, ...] = ()
    run_id: str = ""
    warn: Callable[[str], None] = _silent
    folder: Path = Path()


class Target(Protocol):
    """Drives one kind of agent; its fields are the options under `target` in the suite.

    A class whose attribute `needs_models` is true has no default model: the suite must name one.
    One whose attribute `scripted_closes` is true needs scripted models that close each connection.
    One whose attribute `takes_history` is false has agents that begin with nothing said: a sample
    with a history is refused. Where `takes_turns` is false, a sample of several turns is refused:
    the agent would not know of the earlier ones. Where `sessions_at_once` is a number, no more
    sessions are opened at once, whatever the suite says of its concurrency.
    """

    def connect(self, run_context: RunContext, /) -> AbstractAsyncContextManager[Connection]:
        """Connect once a run."""
        ...


class Cleaner(Protocol):
    """A target that can delete what a run of it left on a server; meeting it is optional."""

    async def clean(self, run_id: str, /) -> Sequence[str]:
        """Delete what a run made and nothing else; return what was deleted, one line a thing.

        Raises `TargetError`.
        """
        ...
