"""Python files written for letta-evals, from the suite's text to the end of the run."""

import pytest

import harness

SUITE = """
name: prices
samples:
  - {id: "0", input: "What is the price of K41?", ground_truth: "12", extra_vars: {currency: EUR}}
  - {id: "1", input: "What is the price of K42?", ground_truth: "15", extra_vars: {currency: EUR}}
target: {kind: python, agent: "agent.py:answer"}
graders:
  price: {kind: tool, function: "eval/graders.py:right_price", ISOLATION
          extractor: "eval/graders.py:price_call", extractor_config: {tool: look_up}}
  currency: {kind: tool, function: "eval/graders.py:says_currency", ISOLATION}
  reward: {kind: tool, function: "eval/rewards.py:compose", ISOLATION}
"""
AGENT = """
import json

PRICES = {"K41": "12", "K42": "13"}

def answer(sample):
    item = sample.input.split()[-1].strip("?")
    call = {"name": "look_up", "arguments": json.dumps({"item": item})}
    return [
        {"role": "user", "content": sample.input},
        {"role": "assistant", "content": None,
         "tool_calls": [{"id": "c1", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "c1", "content": PRICES[item]},
        {"role": "assistant", "content": f"It costs {PRICES[item]} EUR."},
    ]
"""
GRADERS = '''
from __future__ import annotations

from typing import Dict, List, Optional

from letta_client.types import ToolReturnMessage

from letta_evals.decorators import extractor, grader
from letta_evals.extractors.utils import get_assistant_messages, get_tool_calls
from letta_evals.graders.builtin import contains
from letta_evals.models import GradeResult, LettaMessageUnion, Sample
from wording import UNIT


@extractor
def price_call(trajectory: List[List[LettaMessageUnion]], config: Dict) -> str:
    """What the tool returned."""
    for call, back in get_tool_calls(trajectory):
        if call.tool_call.name == config["tool"]:
            assert isinstance(back, ToolReturnMessage) and back.status == "success"
            return back.tool_return
    return ""


@grader
def right_price(sample: Sample, submission: str) -> GradeResult:
    assert isinstance(sample.id, int)
    right = submission == sample.ground_truth
    return GradeResult(score=1.0 if right else 0.0, rationale=f"sample {sample.id}: {submission}",
                       metadata={"unit": UNIT})


@grader
async def says_currency(sample: Sample, submission: str) -> GradeResult:
    from letta_evals import Sample as Same

    assert Same is Sample
    wanted = Sample(id=sample.id, input="", ground_truth=sample.extra_vars["currency"])
    return contains(wanted, submission)
'''
REWARDS = """
from letta_evals import RewardOutput, reward_composer


@reward_composer
def compose(ctx):
    price, currency = ctx.grades["price"].score, ctx.grades["currency"].score
    assert ctx.grades["price"].metadata == {"unit": "EUR"}
    said = ctx.trajectory[0][-1].content
    return RewardOutput(score=0.5 * price + 0.5 * currency,
                        metadata={"model": ctx.model_handle, "said": said})
"""


@pytest.fixture(params=["", "isolation: process,"], ids=["thread", "process"])
def folder(tmp_path, request):
    (tmp_path / "eval").mkdir()
    files = {
        "suite.yaml": SUITE.replace("ISOLATION", request.param),
        "agent.py": AGENT,
        "eval/graders.py": GRADERS,
        "eval/wording.py": "UNIT = 'EUR'\n",
        "eval/rewards.py": REWARDS,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def grades_of(run):
    return {
        trial.sample_id: {name: grade.score for name, grade in trial.grades.items()}
        for trial in run.trials()
    }


def test_a_suites_functions_grade_and_compose(folder):
    run = harness.run(folder / "suite.yaml", out=folder / "runs")
    trials = {trial.sample_id: trial for trial in run.trials()}
    assert [trial.error for trial in trials.values()] == [None, None]
    assert grades_of(run) == {
        "0": {"price": 1.0, "currency": 1.0, "reward": 1.0},
        "1": {"price": 0.0, "currency": 1.0, "reward": 0.5},
    }
    price, reward = trials["1"].grades["price"], trials["1"].grades["reward"]
    assert (price.submission, price.evidence) == ("13", "sample 1: 13")
    assert price.details == {"unit": "EUR"}
    assert reward.details == {"model": "default", "said": "It costs 13 EUR."}


def test_a_stored_run_is_graded_again_and_the_reward_follows_its_grades(folder):
    run = harness.run(folder / "suite.yaml", out=folder / "runs")
    again = harness.grade(run.folder, suite=folder / "suite.yaml", out=folder / "runs")
    assert grades_of(again) == grades_of(run)
    graders = folder / "eval" / "graders.py"
    text = graders.read_text("utf-8").replace("else 0.0, rationale", "else 0.5, rationale")
    graders.write_text(text, encoding="utf-8")
    changed = harness.grade(run.folder, suite=folder / "suite.yaml", out=folder / "runs")
    assert grades_of(changed)["1"] == {"price": 0.5, "currency": 1.0, "reward": 0.75}
