import httpx
import pytest
from fakes.driven_samples import load_code
from fakes.factories import make_sample
from letta_client import NotFoundError

from harness.shims.agent_functions import (
    agent_script_faults,
    make_agent,
    set_up,
    setup_script_faults,
    takes_model,
)
from harness.shims.letta_evals_modules import offer_letta_evals
from harness.types.code import CodeRef
from harness.types.errors import TargetError

SAMPLE = make_sample(id="3", agent_args={"role": "clerk"})


def refer(text, name="f"):
    offer_letta_evals()
    file = load_code(text, name="agents")
    return CodeRef(text=f"agents.py:{name}", file=file, name=name, value=vars(file.module)[name])


class Client:
    """Notes what it is asked to make."""

    def __init__(self):
        self.made = []

    async def create(self, **fields):
        self.made.append(fields)
        return f"agent-{len(self.made)}"


async def test_a_factory_is_given_the_client_and_a_sample_of_letta_evals():
    client = Client()
    ref = refer("""
from letta_evals import agent_factory
from letta_evals.models import Sample

@agent_factory
async def f(client, sample: Sample) -> str:
    assert isinstance(sample, Sample)
    return await client.create(id=sample.id, role=sample.agent_args["role"])
""")
    assert await make_agent(ref, client, SAMPLE) == "agent-1"
    assert client.made == [{"id": 3, "role": "clerk"}]


async def test_a_function_without_decorator_is_given_regrades_sample():
    ref = refer("async def f(client, sample):\n    return type(sample).__module__ + sample.id")
    assert await make_agent(ref, None, SAMPLE) == "harness.types.samples3"


async def test_a_factory_cannot_change_the_sample():
    for decorator in ("", "from letta_evals import agent_factory\n@agent_factory\n"):
        ref = refer(f"""
{decorator}
async def f(client, sample):
    sample.agent_args.clear()
    return "agent-1"
""")
        await make_agent(ref, None, SAMPLE)
        assert SAMPLE.agent_args == {"role": "clerk"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return None", "agents.py:f returned None; return the id of the agent"),
        ("return ''", "agents.py:f returned an empty text; return the id of the agent"),
        ("return 3", "agents.py:f returned a value of type int; return the id of the agent"),
        ("raise KeyError('role')", "agents.py:f raised KeyError: 'role' (agents.py:2)"),
        ("import sys; sys.exit(3)", "agents.py:f raised SystemExit: 3 (agents.py:2)"),
        (
            "from letta_evals import TargetError; raise TargetError('no tools')",
            "agents.py:f raised TargetError: no tools (agents.py:2)",
        ),
    ],
)
async def test_what_a_factory_does_wrong_is_a_breach_of_contract_with_its_line(body, message):
    with pytest.raises(TargetError) as raised:
        await make_agent(refer(f"async def f(client, sample):\n    {body}"), None, SAMPLE)
    assert (raised.value.code, raised.value.line) == ("agent_contract", message)


async def test_a_failure_of_the_server_is_what_it_is():
    class Refusing:
        def create(self):
            request = httpx.Request("POST", "http://localhost:1/v1/agents")
            response = httpx.Response(404, request=request)
            raise NotFoundError("no such model", response=response, body=None)

    ref = refer("async def f(client, sample):\n    client.create()")
    with pytest.raises(TargetError) as raised:
        await make_agent(ref, Refusing(), SAMPLE)
    assert raised.value.code == "not_found"
    assert "agents.py:2" in str(raised.value)


async def test_regrades_own_error_keeps_its_code():
    ref = refer("""
from harness import TargetError
async def f(client, sample):
    raise TargetError("busy", code="overloaded", retry_after=2)
""")
    with pytest.raises(TargetError) as raised:
        await make_agent(ref, None, SAMPLE)
    assert (raised.value.code, raised.value.retry_after) == ("overloaded", 2)


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("def f(): seen.append(())", ()),
        ("def f(client): seen.append((client,))", ("client",)),
        ("async def f(client): seen.append((client,))", ("client",)),
        ("def f(client, model_handle): seen.append((client, model_handle))", ("client", "m")),
        ("async def f(client, model_name): seen.append((client, model_name))", ("client", "m")),
        (
            """
from letta_evals import suite_setup
@suite_setup
def f(client, model_handle): seen.append((client, model_handle))
""",
            ("client", "m"),
        ),
    ],
)
async def test_a_setup_is_given_what_it_has_parameters_for(source, given):
    ref = refer(f"seen = []\n{source}")
    await set_up(ref, "client", "m")
    assert vars(ref.file.module)["seen"] == [given]
    assert takes_model(ref) is (len(given) == 2)


async def test_a_setup_that_raises_says_so_with_its_line():
    with pytest.raises(TargetError) as raised:
        await set_up(refer("def f(client):\n    client.nothing"), None, "m")
    assert raised.value.code == "agent_contract"
    assert str(raised.value) == (
        "setup failed: agents.py:f raised AttributeError: "
        "'NoneType' object has no attribute 'nothing' (agents.py:2)"
    )


FACTORY = "(client, sample), returning the agent's id as a str"
SETUP = "() or (client) or (client, model_handle) or (client, model_name), returning None"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("async def f(client, sample): ...", None),
        ("def f(client, sample): ...", None),
        ("\ndef f(client): ...", f"agents.py:2: the agent factory f takes (client); {FACTORY}"),
        ("f = 3", f"agents.py: f is an int; {FACTORY}"),
        (
            "from letta_evals import grader\n@grader\ndef f(sample, submission): ...",
            f"agents.py:2: f is decorated as a grader; {FACTORY}",
        ),
    ],
)
def test_what_is_no_factory_is_a_fault(source, fault):
    found = [str(one) for one in agent_script_faults(refer(source))]
    assert found == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("def f(): ...", None),
        ("def f(client, model): ...", None),
        ("def f(a, b, c): ...", f"agents.py:1: the suite setup f takes (a, b, c); {SETUP}"),
        (
            """
from letta_evals import agent_factory
@agent_factory
async def f(client, sample): ...
""",
            f"agents.py:3: f is decorated as an agent factory; {SETUP}",
        ),
    ],
)
def test_what_is_no_setup_is_a_fault(source, fault):
    found = [str(one) for one in setup_script_faults(refer(source))]
    assert found == ([fault] if fault else [])
