"""Functions written for letta-evals as graders and extractors of a suite."""

import pytest

from harness.loading.suite_files import load_suite

HEAD = "from letta_evals import grader, extractor, agent_factory, reward_composer\n"


def suite(folder, graders, **files):
    for name, text in files.items():
        folder.write(f"{name}.py", text)
    return folder.suite(f"graders: {graders}", graders=False)


def test_decorated_functions_are_graders_and_extractors_of_their_style(folder):
    path = suite(
        folder,
        "{a: {kind: tool, function: 'g.py:check', extractor: 'g.py:take',"
        " extractor_config: {n: 1}}, reward: {kind: tool, function: 'g.py:compose'}}",
        g=f"""from __future__ import annotations
{HEAD}from letta_evals.models import GradeResult, Sample, LettaMessageUnion
from wording import RIGHT

@grader
async def check(sample: Sample, submission: str) -> GradeResult:
    return GradeResult(score=float(submission == RIGHT))

@extractor
def take(trajectory: list[list[LettaMessageUnion]], config: dict, agent_state) -> str:
    return ""

@reward_composer
def compose(ctx):
    return 1.0
""",
        wording="RIGHT = 'yes'\n",
    )
    a, reward = load_suite(path).graders
    assert (a.grader.style, a.grader.reads, a.grader.is_composer) == (
        "letta-evals",
        "submission",
        False,
    )
    assert (a.extractor.style, len(a.extractor.parameters)) == ("letta-evals", 3)
    assert (reward.grader.is_composer, reward.grader.reads, reward.extractor) == (
        True,
        "trajectory",
        None,
    )


def test_a_file_may_mix_both_styles(folder):
    path = suite(
        folder,
        "{a: {kind: tool, function: 'g.py:a'}, b: {kind: tool, function: 'g.py:b'},"
        " c: {kind: tool, function: 'g.py:c'}}",
        g=f"{HEAD}import harness\n\n"
        "@grader\ndef a(sample, submission): ...\n\n"
        "@harness.grader\ndef b(sample, submission): ...\n\n"
        "def c(sample, submission, grades): ...\n",
    )
    assert [spec.grader.style for spec in load_suite(path).graders] == [
        "letta-evals",
        "regrade",
        "regrade",
    ]


def test_every_function_that_does_not_fit_its_decorator_is_a_fault_at_its_line(folder):
    suite(
        folder,
        "{a: {kind: tool, function: 'g.py:a'}}",
        g=f"{HEAD}from more import g\n"
        "@grader\ndef a(sample): ...\n"
        "@agent_factory\ndef b(client, sample): ...\n",
        more=f"{HEAD}\n@reward_composer\ndef g(context): ...\n",
    )
    assert folder.faults() == [
        "g.py:3: the grader a takes (sample); (sample, submission), returning a GradeResult",
        (
            "g.py:5: the agent factory b has to be async; (client, sample), returning the "
            "agent's id as a str"
        ),
        (
            "more.py:3: the reward composer g takes (context); (ctx), returning a RewardOutput, a "
            "float, a bool or a dict"
        ),
    ]


@pytest.mark.parametrize(
    ("entry", "code", "fault"),
    [
        (
            "{kind: tool, function: 'g.py:f'}",
            "def f(ctx): ...",
            (
                'g.py:2: the grader f asks for "ctx", which nobody gives; a reward composer of '
                "letta-evals is decorated with @reward_composer"
            ),
        ),
        (
            "{kind: tool, function: 'g.py:f'}",
            "@extractor\ndef f(trajectory, config): ...",
            "suite.yaml:3:37: graders.a.function: g.py:f is decorated as an extractor",
        ),
        (
            "{kind: tool, function: contains, extractor: 'g.py:f'}",
            "@reward_composer\ndef f(ctx): ...",
            "suite.yaml:3:58: graders.a.extractor: g.py:f is decorated as a reward composer",
        ),
        (
            "{kind: tool, function: 'g.py:f', config: {n: 1}}",
            "@grader\ndef f(sample, submission): ...",
            (
                "suite.yaml:3:55: graders.a.config: the function f takes no config; leave it out; "
                "`extra_vars` of a sample reach a grader of letta-evals"
            ),
        ),
        (
            "{kind: tool, function: 'g.py:f'}",
            "from letta_evals import Nothing",
            (
                "g.py:2: the file cannot be loaded: ImportError: cannot import name 'Nothing' from "
                "'letta_evals' (unknown location); Regrade gives the names of letta-evals that "
                "suites use; install it for all of them"
            ),
        ),
        (
            "{kind: tool, function: 'g.py:f'}",
            "import letta_evals.nothing",
            (
                "g.py:2: the file cannot be loaded: ModuleNotFoundError: No module named "
                "'letta_evals.nothing'; Regrade gives the names of letta-evals that suites use; "
                "install it for all of them"
            ),
        ),
        (
            "{kind: tool, function: 'g.py:f'}",
            "from letta_evals import Runner\nRunner('suite.yaml')",
            (
                "g.py:3: the file cannot be loaded: RuntimeError: letta_evals.Runner is no part of "
                "Regrade: `regrade run SUITE` runs a suite, and `harness.run(suite)` does so in "
                "Python"
            ),
        ),
        (
            "{kind: tool, function: 'g.py:f'}",
            "grader(print)",
            (
                "g.py:2: the file cannot be loaded: TypeError: only a function can be decorated, "
                "not builtin_function_or_method"
            ),
        ),
    ],
)
def test_what_does_not_fit_is_one_fault(folder, entry, code, fault):
    suite(folder, f"{{a: {entry}}}", g=HEAD + code)
    assert folder.faults() == [fault]


def test_a_registered_name_is_found_in_the_files_that_are_loaded(folder):
    path = suite(
        folder,
        "{a: {kind: tool, function: 'g.py:f'},"
        " b: {kind: tool, function: second, extractor: taken}}",
        g=f"{HEAD}"
        "@grader\ndef f(sample, submission): ...\n"
        "@grader(name='second')\ndef other(sample, submission): ...\n"
        "@extractor(name='taken')\ndef take(trajectory, config): ...\n",
    )
    assert load_suite(path).graders[1].grader.name == "second"
    assert load_suite(path).graders[1].extractor.name == "taken"


def test_a_registered_name_of_another_suite_is_not_found(folder):
    suite(folder, "{b: {kind: tool, function: second}}")
    assert len(folder.faults()) == 1
    assert 'unknown grader "second"' in folder.faults()[0]


def test_a_built_in_grader_is_not_replaced_and_the_suite_is_warned(folder):
    path = suite(
        folder,
        "{a: {kind: tool, function: 'g.py:f'}, b: {kind: tool, function: contains}}",
        g=f"{HEAD}@grader(name='contains')\ndef f(sample, submission): ...\n",
    )
    made = load_suite(path)
    assert type(made.graders[1].grader).__name__ == "Contains"
    assert [warning.problem for warning in made.warnings] == [
        '"contains" is the built-in grader, which no function replaces'
    ]


def test_the_marks_of_an_installed_letta_evals_are_found(folder):
    path = suite(
        folder,
        "{a: {kind: tool, function: 'g.py:f'}, r: {kind: tool, function: 'g.py:r'}}",
        g="def f(sample, submission): ...\nf._is_grader = True\n"
        "def r(ctx): ...\nr._is_reward_composer = True\n",
    )
    a, r = load_suite(path).graders
    assert (a.grader.style, r.grader.is_composer) == ("letta-evals", True)
