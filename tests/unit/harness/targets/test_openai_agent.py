from dataclasses import fields

import pytest
from fakes.driven_samples import load_code

from harness.targets.catalogue import TARGETS
from harness.targets.openai_agent import OpenAIAgent


@pytest.mark.parametrize(
    ("options", "problems"),
    [
        ({}, []),
        ({"request": {"temperature": 0, "stream": True, "n": 1}}, []),
        ({"request": {"messages": []}}, ["request: messages cannot be set here"]),
        ({"request": {"model": "x", "n": 2}}, ["request: model cannot be", "request: n must be 1"]),
    ],
)
def test_options_that_cannot_work_are_told(options, problems):
    found = [f"{option}: {problem}" for option, problem in OpenAIAgent(**options).lint()]
    assert len(found) == len(problems)
    assert all(text.startswith(told) for text, told in zip(found, problems, strict=True))


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("def f(key, db: 'Unknown'): ...", []),
        (
            "def f(*keys): ...\ndef größe(): ...\ndef g(x: object()): ...\ndef h(): ...",
            ["tools.py:1: tool f: takes *keys", "tools.py:2: tool größe: its name",
             "tools.py:3: tool g: "],
        ),
        ("X = 1", ["tools.py: the file defines no tools"]),
    ],
)  # fmt: skip
def test_functions_that_cannot_be_tools_are_found_without_connecting(source, faults):
    found = list(map(str, OpenAIAgent(tools=load_code(source)).check(frozenset({"db"}))))
    assert len(found) == len(faults)
    assert all(text.startswith(told) for text, told in zip(found, faults, strict=True))


def test_an_agent_without_tools_has_no_fault():
    assert list(OpenAIAgent().check(frozenset())) == []


@pytest.mark.parametrize("target", TARGETS.values())
def test_every_option_of_a_target_is_described(target):
    assert [option.name for option in fields(target) if "description" not in option.metadata] == []
