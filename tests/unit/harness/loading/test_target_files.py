"""A target in a file of its own."""

import pytest

from harness.loading.suite_files import load_suite
from harness.loading.target_files import with_target
from harness.types.errors import SuiteError

AGENT = """
from harness import fixture

@fixture(scope="trial")
def desk():
    yield {}

def answer(sample, desk):
    return "x"
"""


@pytest.fixture
def suite(folder):
    folder.write("targets/agent.py", AGENT)
    return load_suite(folder.suite())


def faults(folder, suite, text):
    with pytest.raises(SuiteError) as caught:
        with_target(suite, folder.write("targets/target.yaml", text))
    return [str(fault).replace(f"{folder.path.as_posix()}/", "") for fault in caught.value.faults]


@pytest.mark.parametrize(
    "text",
    [
        "kind: python\nagent: agent.py:answer\nmodels: [a, b]\n",
        "target: {kind: python, agent: 'agent.py:answer', models: [a, b]}\n",
    ],
)
def test_a_target_stands_alone_or_as_in_a_suite(folder, suite, text):
    driven = with_target(suite, folder.write("targets/target.yaml", text))
    assert (driven.target.kind, driven.target.models) == ("python", ("a", "b"))
    assert driven.target.folder == (folder.path / "targets").resolve()
    assert [fixture.name for fixture in driven.fixtures] == ["desk"]
    assert driven.samples == suite.samples


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: pyton\n", 'targets/target.yaml:1:7: kind: unknown kind of target "pyton"'),
        ("kind: python\nagent: other.py:x\n", "targets/target.yaml:2:8: agent: "),
        ("kind: python\n", '"agent" is missing'),
        ("- a\n", "found a list"),
        ("kind: [\n", "targets/target.yaml:"),
        ("kind: python\nagent: agent.py:answer\nmodle: x\n", 'unknown key "modle"'),
    ],
)
def test_a_mistake_has_its_place(folder, suite, text, said):
    assert any(said in fault for fault in faults(folder, suite, text))


def test_a_file_that_is_not_there_is_one_line(folder, suite):
    with pytest.raises(SuiteError, match="the target cannot be read"):
        with_target(suite, folder.path / "nothing.yaml")
