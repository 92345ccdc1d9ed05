import asyncio
import threading

import pytest
from fakes.driven_samples import drive_sample, load_code

from harness.system.clock import now
from harness.targets.python_agent import PythonAgent
from harness.types.code import CodeRef
from harness.types.errors import SuiteError
from harness.types.events import (
    AssistantMessage,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.trajectories import Step


def agent_of(source, name="agent"):
    file = load_code(source, "agent")
    value = getattr(file.module, name)
    return PythonAgent(agent=CodeRef(text=f"agent.py:{name}", file=file, name=name, value=value))


async def drive(source, **options):
    return await drive_sample(agent_of(source), **options)


async def answers(source, **options):
    driven = await drive(source, **options)
    assert driven.error is None
    return [
        [e.text for e in turn.events if isinstance(e, AssistantMessage)] for turn in driven.turns
    ]


async def failure(source, **options):
    return (await drive(source, **options)).error


@pytest.mark.parametrize(
    "source",
    [
        "async def agent(sample): return sample.input + '!'",
        "def agent(sample): return sample.input + '!'",
        "def agent(anything): return anything.input + '!'",
        "agent = lambda sample: sample.input + '!'",
        "async def inner(s): return s.input + '!'\ndef agent(sample): return inner(sample)",
        "class A:\n async def __call__(self, sample): return sample.input + '!'\nagent = A()",
        "class agent:\n def send(self, text): return text + '!'",
        "class agent:\n async def send(self, text): return text + '!'",
    ],
)
async def test_every_kind_of_agent_answers(source):
    assert await answers(source) == [["Hi!"]]


async def test_a_sync_agent_does_not_block_the_loop():
    source = "def agent(sample, started, go):\n started.set()\n go.wait(10)\n return 'x'"
    started, go = threading.Event(), threading.Event()
    fixtures = {"started": started, "go": go}
    driving = asyncio.ensure_future(drive(source, fixtures=fixtures))
    assert await asyncio.to_thread(started.wait, 10)
    go.set()
    assert (await driving).error is None


@pytest.mark.parametrize(
    "source",
    [
        "def agent(sample, model, epoch, db, more=1): return f'{model} {epoch} {db} {more}'",
        "async def agent(model, sample, *, epoch, db, **rest): return f'{model} {epoch} {db} 1'",
        (
            "class agent:\n def __init__(self, model, db, epoch, sample):\n"
            "  self.x = f'{model} {epoch} {db} 1'\n def send(self, text): return self.x"
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass agent:\n model: str\n"
            " epoch: int\n"
            " db: str\n"
            " async def send(self, text): return f'{self.model} {self.epoch} {self.db} 1'"
        ),
    ],
)
async def test_an_agent_is_given_what_it_asks_for_by_name(source):
    assert await answers(source, fixtures={"db": "DB"}) == [["some-model 3 DB 1"]]


CONVERSATION = """
MESSAGES = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Look.", "tool_calls": [{"id": "c1", "type": "function",
     "function": {"name": "find", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "out"},
    {"role": "assistant", "content": "It is out."},
]
"""


async def test_messages_are_recorded_without_the_user_s_which_stands_already():
    for extra in ("MESSAGES", "MESSAGES[1:]", "tuple(MESSAGES)"):
        driven = await drive(f"{CONVERSATION}def agent(sample): return {extra}")
        kinds = [UserMessage, AssistantMessage, ToolCall, ToolResult, AssistantMessage]
        assert [type(e) for e in driven.events] == kinds
        assert driven.of(ToolResult)[0].name == "find"
        assert [e.step for e in driven.events] == [None, 0, 0, 0, 1]
        assert driven.turns[0].steps == (Step(), Step())
        assert all(e.at for e in driven.events[1:])


async def test_what_an_agent_made_of_the_prompt_is_kept():
    source = "def agent(s): return [{'role': 'user', 'content': 'Q: Hi'}]"
    driven = await drive(source)
    assert [(e.kind, e.text) for e in driven.of(SystemEvent)] == [("prompt", "Q: Hi")]


async def test_messages_may_go_on_from_the_sample_s_history():
    source = (
        "async def agent(sample):\n"
        " return [*sample.history, {'role': 'user', 'content': 'Hi'},"
        " {'role': 'assistant', 'content': 'new'}]"
    )
    history = ({"role": "user", "content": "old"}, {"role": "assistant", "content": "older"})
    assert await answers(source, history=history) == [["new"]]


TWO_TURNS = """
def agent(sample):
    return [m for text in sample.turns for m in (
        {"role": "user", "content": text}, {"role": "assistant", "content": text + "!"})]
"""


async def test_a_function_gives_the_messages_of_every_turn():
    assert await answers(TWO_TURNS, input=("a", "b")) == [["a!"], ["b!"]]


async def test_an_object_is_made_once_a_trial_and_closed_at_its_end():
    source = """
MADE = []
class agent:
    def __init__(self): self.heard = []; self.closed = 0; MADE.append(self)
    def send(self, text): self.heard.append(text); return " ".join(self.heard)
    async def close(self): self.closed += 1
"""
    agent = agent_of(source)
    for _ in range(2):
        driven = await drive_sample(agent, input=("a", "b"))
        assert [e.text for e in driven.of(AssistantMessage)] == ["a", "a b"]
    assert [made.closed for made in agent.agent.file.module.MADE] == [1, 1]


async def test_a_result_of_a_later_turn_is_named_by_a_call_of_an_earlier_one():
    source = """
class agent:
    turn = 0
    def send(self, text):
        self.turn += 1
        if self.turn == 1:
            return [{"role": "assistant", "tool_calls": [
                {"id": "c1", "function": {"name": "find", "arguments": "{}"}}]}]
        return [{"role": "user", "content": text}, {"role": "tool", "tool_call_id": "c1",
                 "content": "late"}]
"""
    driven = await drive(source, input=("a", "b"))
    assert [e.name for e in driven.of(ToolResult)] == ["find"]


TRAJECTORY = """
from harness.types.events import AssistantMessage, ToolCall, ToolResult, UserMessage
from harness.types.trajectories import Step, Trajectory, Turn, Usage
"""


async def test_a_trajectory_is_recorded_with_its_results_named_and_its_text_made_safe():
    source = f"""{TRAJECTORY}
def agent(sample):
    events = (UserMessage(text="Hi"), ToolCall(call_id="c", name="find", arguments={{}}),
              ToolResult(call_id="c", name="wrong", output="a\\ud800"), AssistantMessage(text="x"))
    return Trajectory(turns=(Turn(events=events, steps=(Step(usage=Usage(input_tokens=5)),)),))
"""
    driven = await drive(source)
    (result,) = driven.of(ToolResult)
    assert (result.name, result.output) == ("find", "a\ufffd")
    assert driven.trajectory.usage.input_tokens == 5
    assert len(driven.of(UserMessage)) == 1


async def test_the_times_of_a_trajectory_are_its_own():
    source = f"""{TRAJECTORY}
from datetime import datetime, UTC
def agent(sample):
    at = datetime(2024, 5, 6, tzinfo=UTC)
    said = (AssistantMessage(text="x", at=at), AssistantMessage(text="y"))
    return Trajectory(turns=(Turn(events=said),))
"""
    first, second = (await drive(source)).of(AssistantMessage)
    assert first.at.year == 2024
    assert (now() - second.at).total_seconds() < 60


@pytest.mark.parametrize(
    ("returned", "told"),
    [
        ("None", "agent.py:agent returned None"),
        ("5", "agent.py:agent returned a value of type int"),
        ("{'role': 'assistant'}", "returned a value of type dict"),
        ("b'x'", "returned a value of type bytes"),
        ("[5]", "returned what cannot be kept: message 0: must be an object, got a number"),
        ("[{'role': 'critic', 'content': 'x'}]", "message 0: role must be one of"),
        ("[]", "returned 0 turns for a sample of 1"),
        (
            "[{'role': 'user', 'content': 'a'}, {'role': 'user', 'content': 'b'}]",
            "returned 2 turns for a sample of 1",
        ),
        ("(x for x in [])", "returned a value of type generator"),
        (
            "[{'role': 'tool', 'tool_call_id': 'c', 'content': {'x': object()}}]",
            "message 0: no JSON value: object",
        ),
        ("Trajectory(turns=(Turn(events=(AssistantMessage(text=5),)),))", "cannot be kept"),
        ("Trajectory(turns=(5,))", "cannot be kept"),
        ("Trajectory(turns=5)", "cannot be kept"),
        (
            (
                "Trajectory(turns=(Turn(events="
                "(ToolCall(call_id='c', name='n', arguments=object()),)),))"
            ),
            "cannot be kept",
        ),
    ],
)
async def test_what_no_trajectory_can_hold_breaks_the_contract(returned, told):
    error = await failure(f"{TRAJECTORY}\ndef agent(sample): return {returned}")
    assert error.code == "agent_contract"
    assert told in str(error)
    assert error.hint


async def test_a_text_alone_is_no_answer_to_several_turns():
    error = await failure("def agent(sample): return 'x'", input=("a", "b"))
    assert error.code == "agent_contract"
    assert str(error) == "agent.py:agent returned 1 turn for a sample of 2"
    assert error.hint == "use a class with send(text), or return messages with the user's too"


async def test_the_messages_of_two_turns_are_none_of_one():
    source = """
class agent:
    def send(self, text):
        return [{"role": "user", "content": "a"}, {"role": "user", "content": text}]
"""
    error = await failure(source)
    assert error.code == "agent_contract"
    assert "this turn only" in error.hint


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('boom')", "ValueError: boom (agent.py:"),
        ("raise SystemExit(3)", "SystemExit: 3 (agent.py:"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError (agent.py:"),
        ("raise ValueError('a\\nb')", "ValueError: a\\nb (agent.py:"),
        ("raise TimeoutError('mine')", "TimeoutError: mine (agent.py:"),
        ("return 1 / 0", "ZeroDivisionError: division by zero (agent.py:"),
        ("import json; json.loads('{')", "JSONDecodeError: "),
        ("raise ValueError('api_key=canary-9f3a')", "ValueError: api_key=[redacted]"),
    ],
)
@pytest.mark.parametrize(
    "shape",
    [
        "async def agent(sample): {body}",
        "def agent(sample): {body}",
        "class agent:\n def send(self, text): {body}",
        "class agent:\n async def send(self, text): {body}",
        "class agent:\n def __init__(self): {body}\n def send(self, text): return ''",
        "class agent:\n def __init__(self): {body}\n async def send(self, text): return ''",
    ],
)
async def test_an_agent_that_raises_has_crashed(body, told, shape):
    error = await failure(shape.replace("{body}", body))
    assert error.code == "agent_crash"
    assert str(error).startswith(told)


async def test_a_crash_names_the_line_of_the_user_s_code():
    error = await failure("import json\n\ndef agent(sample):\n    return json.loads('{')\n")
    assert str(error).endswith("(agent.py:4)")


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        ("ConnectionResetError()", "connection_lost"),
        ("ConnectionRefusedError()", "connection_refused"),
        ("TargetError('down')", "connection_lost"),
        ("TargetError('x', code='rate_limited')", "rate_limited"),
    ],
)
async def test_an_outage_that_an_agent_met_is_no_crash(raised, code):
    source = f"from harness import TargetError\ndef agent(sample): raise {raised}"
    assert (await failure(source)).code == code


async def test_an_outage_is_tried_again_from_a_clean_agent():
    source = """
from harness import TargetError
MADE = []
class agent:
    def __init__(self): MADE.append(self)
    def send(self, text):
        if len(MADE) < 3: raise TargetError("down")
        return "up again"
"""
    driven = await drive(source, attempts=3)
    assert [e.text for e in driven.of(AssistantMessage)] == ["up again"]
    driven = await drive(source, attempts=2)
    assert (driven.error.policy.status, str(driven.error)) == ("target_error", "down")


async def test_an_error_with_an_unknown_code_is_a_crash_that_names_the_codes():
    source = "from harness import TargetError\ndef agent(sample): raise TargetError('x', code='no')"
    error = await failure(source)
    assert error.code == "agent_crash"
    assert str(error).startswith("ValueError: unknown code 'no'; there are turn_timeout, ")
    assert "connection_lost" in str(error)
    assert str(error).endswith("(agent.py:2)")


async def test_an_exception_of_the_agent_s_own_is_a_crash_whatever_it_carries():
    source = "class Busy(Exception): status_code = 503\ndef agent(sample): raise Busy()"
    assert (await failure(source)).code == "agent_crash"


async def test_an_agent_that_hangs_is_cancelled():
    for source in (
        "import asyncio\nasync def agent(sample): await asyncio.Event().wait()",
        "import threading\ndef agent(sample): threading.Event().wait(5)",
    ):
        assert (await failure(source, turn_seconds=0.05)).code == "turn_timeout"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("agent = 5", ["agent.py: agent is no agent; a function, or a class with send(text)"]),
        (
            "class agent: ...",
            ["agent.py: agent is a class without send(text); a class with a method send(text)"],
        ),
        (
            "\ndef agent(sample, database): ...",
            ['agent.py:2: agent asks for "database"; by name there is: sample, model, epoch, db'],
        ),
        (
            "class agent:\n def __init__(self, x, y, db): ...",
            [
                "agent.py:2: agent is a class without send(text); a class with a method send(text)",
                'agent.py:2: agent asks for "x"; by name there is: sample, model, epoch, db',
                'agent.py:2: agent asks for "y"; by name there is: sample, model, epoch, db',
            ],
        ),
        (
            "def agent(sample, model, /): ...",
            [
                'agent.py:1: agent asks for "sample" by position; parameters with a name',
                'agent.py:1: agent asks for "model" by position; parameters with a name',
            ],
        ),
        ("def agent(anything, db, *more, x=1, **rest): ...", []),
        ("class agent(str):\n def send(self, text): ...", []),
    ],
)
async def test_what_is_no_agent_is_a_fault_of_the_suite(source, told):
    agent = agent_of(source)
    assert list(map(str, agent.check(frozenset({"db"})))) == told
    if told:
        with pytest.raises(SuiteError) as raised:
            await drive_sample(agent, fixtures={"db": 1})
        assert str(raised.value) == "\n".join(told)


async def test_an_async_class_is_made_on_the_loop():
    source = """
import asyncio
class agent:
    def __init__(self): self.loop = asyncio.get_running_loop()
    async def send(self, text): return str(self.loop is asyncio.get_running_loop())
"""
    assert await answers(source) == [["True"]]


RECORDING = """
class agent:
    def __init__(self, go, started, log): self.go, self.started, self.log = go, started, log
    def send(self, text):
        self.log.append("send begins")
        self.started.set()
        self.go.wait(20)
        self.log.append("send ends")
        return "late"
    {close} close(self): self.log.append("close")
"""


def overrunning(close):
    made = {"go": threading.Event(), "started": threading.Event(), "log": []}
    source = RECORDING.format(close=close)
    return made, drive_sample(agent_of(source), fixtures=made, turn_seconds=0.05)


@pytest.mark.parametrize("close", ["def", "async def"])
async def test_an_agent_that_overran_is_closed_when_its_thread_has_left_it(close):
    made, driving = overrunning(close)
    driving = asyncio.ensure_future(driving)
    assert await asyncio.to_thread(made["started"].wait, 10)
    asyncio.get_running_loop().call_later(0.3, made["go"].set)
    driven = await driving
    assert driven.error.code == "turn_timeout"
    assert made["log"] == ["send begins", "send ends", "close"]
    assert driven.warnings == []


@pytest.mark.parametrize("close", ["def", "async def"])
async def test_an_agent_that_still_runs_is_not_closed_and_that_is_said(close):
    made, driving = overrunning(close)
    driven = await driving
    assert driven.error.code == "turn_timeout"
    assert made["log"] == ["send begins"]
    (warning,) = driven.warnings
    assert "agent.send() still runs; close() is not called" in warning
    made["go"].set()


async def test_an_agent_whose_send_raised_is_closed():
    source = """
LOG = []
class agent:
    def send(self, text): raise ValueError(text)
    def close(self): LOG.append("close")
"""
    agent = agent_of(source)
    assert (await drive_sample(agent)).error.code == "agent_crash"
    assert agent.agent.file.module.LOG == ["close"]


@pytest.mark.parametrize(
    "source",
    [
        "def agent(sample):\n sample.metadata['want'] = 'mine'; return 'x'",
        (
            "class agent:\n def __init__(self, sample): sample.metadata['want'] = 'mine'\n"
            " def send(self, text): return 'x'"
        ),
    ],
)
async def test_an_agent_cannot_change_what_it_is_compared_with(source):
    metadata = {"want": "right"}
    assert await answers(source, metadata=metadata) == [["x"]]
    assert metadata == {"want": "right"}


RAISED = """
class Own(BaseException): ...
class Rude(Exception):
    def __str__(self): raise SystemExit(7)
class Dumped:
    def model_dump(self): raise {raised}
"""


@pytest.mark.parametrize(
    "raised",
    [
        "Own('mine')",
        "BaseExceptionGroup('g', [KeyboardInterrupt()])",
        "KeyboardInterrupt()",
        "SystemExit(3)",
        "Rude()",
    ],
)
@pytest.mark.parametrize(
    "shape",
    [
        "async def agent(sample): raise {raised}",
        "def agent(sample): raise {raised}",
        "class agent:\n def send(self, text): raise {raised}",
        "class agent:\n async def send(self, text): raise {raised}",
        "class agent:\n def __init__(self): raise {raised}\n async def send(self, text): ...",
        "def agent(sample): return [Dumped()]",
        (
            "class agent:\n def send(self, text): ...\n def __getattribute__(self, name):\n"
            "  if name == 'send': raise {raised}\n  return object.__getattribute__(self, name)"
        ),
    ],
)
async def test_whatever_an_agent_raises_is_its_crash(shape, raised):
    source = f"{RAISED}{shape}\n".replace("{raised}", raised)
    assert (await failure(source)).code == "agent_crash"


@pytest.mark.parametrize("raised", ["KeyboardInterrupt()", "SystemExit(3)", "Own()", "Rude()"])
@pytest.mark.parametrize("close", ["def", "async def", "@property\n def"])
async def test_whatever_close_raises_is_a_warning(close, raised):
    source = (
        f"{RAISED}class agent:\n def send(self, text): return 'x'\n"
        f" {close} close(self): raise {{raised}}"
    )
    driven = await drive(source.replace("{raised}", raised))
    assert driven.error is None
    assert len(driven.warnings) == 1


@pytest.mark.parametrize(
    "raised",
    [
        "TargetError('x', retry_after='soon')",
        "TargetError('x', retry_after=-1)",
        "TargetError('x', retry_after=float('nan'))",
        "TargetError('x', retry_after=True)",
        "changed(retry_after='soon')",
        "changed(code='no such code')",
        "Bare()",
    ],
)
async def test_an_outage_that_makes_no_sense_is_a_crash(raised):
    source = f"""
from harness import TargetError
class Bare(TargetError):
    def __init__(self): pass
def changed(**values):
    error = TargetError("x")
    vars(error).update(values)
    return error
def agent(sample): raise {raised}
"""
    assert (await failure(source, attempts=2)).code == "agent_crash"


async def test_no_secret_is_left_where_a_crash_is_cut(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary-9f3a-secret")
    for before in range(440, 500, 7):
        source = f"def agent(sample): raise ValueError('x' * {before} + 'canary-9f3a-secret' * 300)"
        error = await failure(source)
        assert "canary" not in str(error)
        assert str(error).endswith("(agent.py:1)")


async def test_a_generator_exit_of_an_agent_in_a_thread_is_its_crash():
    assert (await failure("def agent(sample): raise GeneratorExit")).code == "agent_crash"


STATE = """
class Message:
    def __init__(self, type, content):
        self.type, self.content, self.additional_kwargs = type, content, {}

def state(*texts):
    kinds = ["human", "ai"] * len(texts)
    return {"messages": [Message(kind, text) for kind, text in zip(kinds, texts)]}
"""


async def test_what_a_library_returned_is_read_without_its_being_imported():
    assert await answers(f"{STATE}def agent(sample): return state('Hi', 'Hello.')") == [["Hello."]]


async def test_a_library_that_gives_the_whole_conversation_is_read_from_the_last_turn_on():
    source = (
        f"{STATE}class agent:\n"
        " said = ()\n"
        " def send(self, text):\n"
        "  self.said = (*self.said, text, text + '!')\n"
        "  return state(*self.said)"
    )
    assert await answers(source, input=("a", "b", "c")) == [["a!"], ["b!"], ["c!"]]


async def test_the_sample_s_history_is_no_turn_of_what_a_library_returned():
    source = f"{STATE}def agent(sample): return state('old', 'older', 'Hi', 'new')"
    history = ({"role": "user", "content": "old"}, {"role": "assistant", "content": "older"})
    assert await answers(source, history=history) == [["new"]]
