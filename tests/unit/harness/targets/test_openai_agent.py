import pytest
from fakes.driven_samples import load_code

from harness.targets.openai_agent import OpenAIAgent


@pytest.mark.parametrize(
    ("options", "problems"),
    [
        ({}, []),
        ({"request": {"temperature": 0, "stream": True, "n": 1}}, []),
        ({"request": {"messages": []}}, ["request: messages cannot be set here"]),
        ({"request": {"model": "x", "n": 2}}, ["request: model cannot be", "request: n must be 1"]),
        ({"max_steps": 0}, ["max_steps: must be at least 1"]),
        ({"tools": "def f(key, db: 'Unknown'): ..."}, []),
        (
            {"tools": "def f(*keys): ...\ndef größe(): ..."},
            ["tools: tools.py:1: tool f: takes *keys", "tools: tools.py:2: tool größe: its name"],
        ),
    ],
)
def test_options_that_cannot_work_are_told(options, problems):
    if "tools" in options:
        options = {"tools": load_code(options["tools"])}
    found = [f"{option}: {problem}" for option, problem in OpenAIAgent(**options).lint()]
    assert len(found) == len(problems)
    assert all(text.startswith(told) for text, told in zip(found, problems, strict=True))
