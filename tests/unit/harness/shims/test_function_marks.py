import functools

import pytest

from harness.shims import function_marks
from harness.shims.function_marks import (
    agent_factory,
    extractor,
    grader,
    reward_composer,
    suite_setup,
)
from harness.types.marks import mark_of

HEAD = """
from __future__ import annotations
from letta_evals import models
from letta_evals.models import GradeResult, RewardOutput
from typing import Dict, List, Optional
import typing
"""


def defined(source, *, postponed=True):
    """Define the function `f` of a source, with annotations as text or as they are."""
    from harness.shims.letta_evals_modules import offer_letta_evals  # noqa: PLC0415

    offer_letta_evals()
    names = dict(vars(function_marks))
    head = HEAD if postponed else HEAD.replace("from __future__ import annotations", "")
    exec(head + source, names)
    return names["f"]


@pytest.mark.parametrize("postponed", [True, False])
@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("@grader\ndef f(sample, submission): ...", "grader"),
        ("@grader()\ndef f(sample, submission) -> GradeResult: ...", "grader"),
        ("@grader\nasync def f(sample, submission) -> models.GradeResult: ...", "grader"),
        ("@grader\ndef f(sample, submission) -> float: ...", "grader"),
        ("@extractor\ndef f(trajectory: List[List[dict]], config: dict) -> str: ...", "extractor"),
        ("@extractor\ndef f(trajectory, config, agent_state): ...", "extractor"),
        ("@agent_factory\nasync def f(client, sample) -> str: ...", "agent factory"),
        ("@suite_setup\ndef f() -> None: ...", "suite setup"),
        ("@suite_setup\nasync def f(client): ...", "suite setup"),
        ("@suite_setup\ndef f(client, model_handle: str): ...", "suite setup"),
        ("@suite_setup\ndef f(client, model_name): ...", "suite setup"),
        ("@reward_composer\ndef f(ctx) -> RewardOutput: ...", "reward composer"),
        ("@reward_composer\nasync def f(ctx) -> Dict[str, float]: ...", "reward composer"),
    ],
)
def test_a_function_of_the_right_form_is_marked(source, kind, postponed):
    mark = mark_of(defined(source, postponed=postponed))
    assert (mark.kind, mark.name, mark.style, mark.problem) == (kind, "f", "letta-evals", "")


@pytest.mark.parametrize("postponed", [True, False])
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("@grader\ndef f(sample): ...", "takes (sample)"),
        ("@grader\ndef f(sample, submission, more): ...", "takes (sample, submission, more)"),
        ("@grader\ndef f(submission, sample): ...", "takes (submission, sample)"),
        ("@grader\ndef f(*args): ...", "takes (args)"),
        ("@grader\ndef f(sample, submission) -> str: ...", "is annotated to return str"),
        ("@grader\ndef f(sample, submission) -> None: ...", "is annotated to return None"),
        ("@extractor\ndef f(trajectory): ...", "takes (trajectory)"),
        ("@extractor\ndef f(trajectory, config, state): ...", "takes (trajectory, config, state)"),
        ("@extractor\ndef f(trajectory, config) -> list[str]: ...", "is annotated to return list"),
        ("@agent_factory\nasync def f(client): ...", "takes (client)"),
        ("@agent_factory\ndef f(client, sample): ...", "has to be async"),
        ("@suite_setup\ndef f(client, model, more): ...", "takes (client, model, more)"),
        ("@suite_setup\ndef f(server): ...", "takes (server)"),
        ("@reward_composer\ndef f(context): ...", "takes (context)"),
        ("@reward_composer\ndef f(ctx, more): ...", "takes (ctx, more)"),
        ("@reward_composer\ndef f(ctx) -> str: ...", "is annotated to return str"),
    ],
)
def test_what_is_wrong_with_a_signature_stands_in_the_mark(source, problem, postponed):
    mark = mark_of(defined(source, postponed=postponed))
    assert mark.problem == problem
    assert mark.allowed.startswith("(")


def test_a_name_may_be_given():
    @grader(name="other")
    def f(sample, submission):
        return 1.0

    @extractor(name="second")
    def g(trajectory, config):
        return ""

    assert (mark_of(f).name, mark_of(g).name) == ("other", "second")


def test_the_function_is_returned_as_it_is():
    def f(sample, submission):
        return sample + submission

    assert grader(f) is f
    assert f(1, 2) == 3


def test_the_attributes_of_letta_evals_are_set():
    def two(trajectory, config): ...

    def three(trajectory, config, agent_state): ...

    async def factory(client, sample): ...

    def setup(client): ...

    def compose(ctx): ...

    def judge(sample, submission): ...

    assert [extractor(f)._extractor_param_count for f in (two, three)] == [2, 3]
    assert two._is_extractor
    assert agent_factory(factory)._is_agent_factory
    assert suite_setup(setup)._is_suite_setup
    assert setup._suite_setup_param_count == 1
    assert reward_composer(compose)._is_reward_composer
    assert grader(judge)._is_grader


@pytest.mark.parametrize("value", [print, functools.partial(print), type("C", (), {}), 3])
@pytest.mark.parametrize("decorate", [grader, extractor, reward_composer, suite_setup])
def test_what_is_no_function_is_refused_at_once(decorate, value):
    with pytest.raises(TypeError, match="only a function can be decorated"):
        decorate(value)


@pytest.mark.parametrize(
    ("attribute", "kind"),
    [
        ("_is_grader", "grader"),
        ("_is_extractor", "extractor"),
        ("_is_agent_factory", "agent factory"),
        ("_is_suite_setup", "suite setup"),
        ("_is_reward_composer", "reward composer"),
    ],
)
def test_the_attributes_that_an_installed_letta_evals_sets_are_marks(attribute, kind):
    def inner(sample, submission): ...

    setattr(inner, attribute, True)

    @functools.wraps(inner)
    def f(*args): ...

    mark = mark_of(f)
    assert (mark.kind, mark.name, mark.style) == (kind, "inner", "letta-evals")


def test_an_attribute_of_an_object_is_no_mark():
    class Proxy:
        def __getattr__(self, name):
            return True

    assert mark_of(Proxy()) is None
    assert mark_of(print) is None
