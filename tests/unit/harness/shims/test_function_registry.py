import pytest

from harness.shims.function_registry import EXTRACTOR_REGISTRY, GRADER_REGISTRY
from harness.shims.letta_evals_modules import offer_letta_evals
from harness.system.private_modules import PrivateModules

FILE = """
from letta_evals.decorators import EXTRACTOR_REGISTRY, GRADER_REGISTRY, extractor, grader

@grader(name="{name}")
def judge(sample, submission):
    return 1.0

@grader
def contains(sample, submission):
    return 0.0

@extractor
def take(trajectory, config):
    return ""

def names():
    return list(GRADER_REGISTRY), list(EXTRACTOR_REGISTRY), len(GRADER_REGISTRY)

def get(name):
    return GRADER_REGISTRY[name]
"""


@pytest.fixture
def load(tmp_path):
    offer_letta_evals()

    def load_suite(name):
        path = tmp_path / name / "functions.py"
        path.parent.mkdir()
        path.write_text(FILE.format(name=name))
        return PrivateModules(path.parent).load(path)

    return load_suite


def test_a_suite_sees_built_in_functions_and_its_own_and_no_other_suites(load):
    one, two = load("one"), load("two")
    graders, extractors, count = one.names()
    assert {"exact_match", "contains", "one"} <= set(graders)
    assert "two" not in graders
    assert "take" in extractors
    assert count == len(graders)
    assert one.get("one") is one.judge
    assert two.get("two") is two.judge


def test_a_built_in_function_is_not_replaced(load):
    from harness.shims.builtin_functions import contains  # noqa: PLC0415

    suite = load("three")
    assert suite.get("contains") is contains


def test_outside_of_a_suite_there_are_the_built_in_ones():
    assert sorted(GRADER_REGISTRY) == [
        "ascii_printable_only",
        "contains",
        "exact_match",
        "regex_match",
    ]
    assert "memory_block" in EXTRACTOR_REGISTRY
    assert "other" not in GRADER_REGISTRY


def test_it_cannot_be_written_to():
    with pytest.raises(TypeError, match="does not support item assignment"):
        GRADER_REGISTRY["mine"] = print
