import pytest
from fakes.driven_samples import load_code

from harness.targets.toolbox import build_toolbox
from harness.types.errors import SuiteError


def build(source, *fixtures):
    return build_toolbox(load_code(source), frozenset(fixtures))


def parameters(source, *fixtures):
    (tool,) = build(source, *fixtures).values()
    return tool.schema["function"]["parameters"]


def call(tools, arguments, **fixtures):
    (tool,) = tools.values()
    args, kwargs = tool.bind(arguments, fixtures)
    return tool.function(*args, **kwargs)


MIXED = """
from json import dumps
from harness.types.marks import extractor, fixture, grader

LIMIT = 5

def second(): ...
def first(): ...
def _private(): ...
async def third(): ...
class Record: ...

@fixture
def database(): ...
@grader(name="other")
def judge(sample, submission): ...
@extractor
def take(trajectory): ...
"""


def test_the_public_functions_of_a_file_are_tools_in_their_order():
    assert list(build(MIXED)) == ["second", "first", "third"]


def test_a_file_may_name_its_tools_itself():
    named = "from bisect import insort_left\n__all__ = ['first', 'cos', 'LIMIT', 'judge']"
    assert list(build(f"{MIXED}\nfrom os.path import basename as cos\n{named}")) == ["first", "cos"]


def test_decorated_functions_keep_their_signature():
    source = """
from functools import wraps
def logged(function):
    @wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
@logged
def find(key: str) -> str:
    return key
"""
    tools = build(f"{source}__all__ = ['find']")
    assert tools["find"].schema["function"]["parameters"]["required"] == ["key"]
    assert call(tools, {"key": "k"}) == "k"


def test_name_description_and_schema_come_from_signature_and_docstring():
    source = '''
from __future__ import annotations
from typing import Annotated, Literal, Optional
from pydantic import Field

def find(
    key: str,
    kind: Literal["a", "b"] = "a",
    limit: Optional[int] = None,
    title: Annotated[str, Field(description="its own word")] = "t",
) -> dict:
    """Find a thing.

    It looks everywhere.

    Args:
        key: which one
        limit: how many
        title: not this
    """
'''
    assert build(source)["find"].schema == {
        "type": "function",
        "function": {
            "name": "find",
            "description": "Find a thing.\n\nIt looks everywhere.",
            "parameters": {
                "type": "object",
                "properties": {
                    "key": {"type": "string", "description": "which one"},
                    "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
                    "limit": {
                        "anyOf": [{"type": "integer"}, {"type": "null"}],
                        "default": None,
                        "description": "how many",
                    },
                    "title": {"type": "string", "default": "t", "description": "its own word"},
                },
                "required": ["key"],
                "additionalProperties": False,
            },
        },
    }


@pytest.mark.parametrize(
    "docstring",
    [
        "Find.\n\n    :param key: which one",
        "Find.\n\n    Parameters\n    ----------\n    key : str\n        which one",
        "Find.\n\n    Args:\n        key (str): which one\n\n    Returns:\n        nothing",
    ],
)
def test_docstrings_of_every_style_are_read(docstring):
    function = build(f'def find(key: str):\n    """{docstring}\n    """')["find"].schema["function"]
    assert function["description"] == "Find."
    assert function["parameters"]["properties"]["key"]["description"] == "which one"


def test_a_function_without_docstring_and_parameters_is_a_tool():
    (tool,) = build("def now(): return 1").values()
    assert tool.schema["function"] == {
        "name": "now",
        "description": "",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    }
    assert call({"now": tool}, {}) == 1


@pytest.mark.parametrize(
    "name", ["copy", "json", "schema", "model_config", "model_fields", "self", "_key", "validate"]
)
def test_a_parameter_may_have_any_name(name):
    tools = build(f"def find({name}: int): return {name}")
    assert list(parameters(f"def find({name}: int): ...")["properties"]) == [name]
    assert call(tools, {name: "5"}) == 5


TYPES = """
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import NamedTuple
from pydantic import BaseModel

class Color(Enum):
    RED = "red"

@dataclass
class Point:
    x: int
    y: int = 0

class Order(BaseModel):
    items: list[str]
    at: Point | None = None

"""


@pytest.mark.parametrize(
    ("annotation", "given", "received"),
    [
        ("int", "5", 5),
        ("float", 5, 5.0),
        ("bool", True, True),
        ("list[int]", ["1"], [1]),
        ("dict[str, int]", {"a": 1}, {"a": 1}),
        ("int | None", None, None),
        ("date", "2024-05-06", "datetime.date(2024, 5, 6)"),
        ("Color", "red", "<Color.RED: 'red'>"),
        ("Point", {"x": 1}, "Point(x=1, y=0)"),
        ("Order", {"items": [], "at": {"x": 1}}, "Order(items=[], at=Point(x=1, y=0))"),
        ("'Order'", {"items": ["a"]}, "Order(items=['a'], at=None)"),
        ("object", {"any": 1}, {"any": 1}),
    ],
)
def test_arguments_arrive_as_the_types_the_function_asks_for(annotation, given, received):
    tools = build(f"{TYPES}def find(value: {annotation}): return value")
    found = call(tools, {"value": given})
    assert (repr(found) if isinstance(received, str) else found) == received


def test_a_parameter_without_annotation_takes_anything():
    assert call(build("def find(value): return value"), {"value": [1, {}]}) == [1, {}]


@pytest.mark.parametrize(
    ("source", "arguments", "received"),
    [
        ("def f(a, b=2): return a, b", {"a": 1}, (1, 2)),
        ("def f(a, /, b, *, c=3): return a, b, c", {"a": 1, "b": 2}, (1, 2, 3)),
        ("def f(a=1, /, b=2): return a, b", {"b": 5}, (1, 5)),
        ("def f(a=[]): return a", {}, []),
        ("X = object()\ndef f(a=X): return a is X", {}, True),
        ("def f(a: int = None): return a", {}, None),
    ],
)
def test_defaults_are_those_of_the_function(source, arguments, received):
    assert call(build(source), arguments) == received


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "key: Field required; n: Field required"),
        ({"key": "k", "n": "two"}, "n: Input should be a valid integer, .*, got 'two'"),
        ({"key": 5, "n": 1}, "key: Input should be a valid string, got 5"),
        ({"key": "k", "n": 1, "m": 1}, "m: Extra inputs are not permitted"),
    ],
)
def test_wrong_arguments_are_told_with_their_names(arguments, told):
    (tool,) = build("def find(key: str, n: int): ...").values()
    with pytest.raises(ValueError, match=f"^{told}$"):
        tool.bind(arguments, {})


def test_a_parameter_called_like_a_fixture_is_filled_in_and_hidden():
    source = "def find(key: str, db): return key, db"
    assert list(parameters(source, "db")["properties"]) == ["key"]
    assert call(build(source, "db"), {"key": "k"}, db="the database") == ("k", "the database")
    with pytest.raises(ValueError, match="db: Extra inputs"):
        call(build(source, "db"), {"key": "k", "db": "mine"}, db="the database")


@pytest.mark.parametrize("annotation", ["sqlite3.Connection", "'Unknown'", "'no type at all['"])
def test_the_annotation_of_a_fixture_may_be_anything(annotation):
    source = f"import sqlite3\ndef find(db: {annotation}, key: str) -> 'Nowhere': return key"
    assert call(build(source, "db"), {"key": "k"}, db=None) == "k"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "def f(*keys): ...",
            r"tools.py:1: tool f: takes \*keys; parameters with a name",
        ),
        ("def f(**keys): ...", r"tool f: takes \*\*keys"),
        (
            "import sqlite3\ndef f(db: sqlite3.Connection): ...",
            (
                "tools.py:2: tool f: parameter db has a type without a JSON schema: "
                ".*Connection.*; .*the name of a fixture"
            ),
        ),
        ("from json import dumps\n__all__ = ['dumps']", r"^tools.py: tool dumps: takes \*\*kw"),
        ("def f(a: 'Unknown'): ...", "tool f: its annotations cannot be read: NameError"),
        ("def größe(): ...", "tool größe: its name is refused by endpoints"),
        (f"def {'f' * 65}(): ...", "its name is refused by endpoints"),
        ("X = 1", "tools.py: the file defines no tools; functions at the top"),
        ("lower = str.lower", "tools.py: tool lower: its annotations cannot be read"),
        ("__all__ = 5", "^tools.py: __all__ is no list; a list of names$"),
        ("__all__ = 'find'\ndef find(): ...", "^tools.py: __all__ is no list"),
        ("from json import dumps\n__all__ = []", "the file defines no tools"),
    ],
)
def test_a_function_that_can_be_no_tool_is_a_fault_with_its_place(source, told):
    with pytest.raises(SuiteError, match=told):
        build(source)


def test_every_fault_of_a_file_is_told_at_once():
    with pytest.raises(SuiteError) as raised:
        build("def f(*a): ...\ndef g(): ...\ndef h(**b): ...")
    assert [fault.line for fault in raised.value.faults] == [1, 3]
