import pytest

from harness.loading.suite_files import load_suite
from harness.types.errors import SuiteError

BLOCK = """
  kind: openai
  model: ${M:-m}
  base_url: ${PLACE}/v1
  max_steps: ${STEPS}
  instructions: say ${PLACE}
  request: {user: 'a${STEPS}', temperature: 0.70, seed: 010}
"""
AGENT = "def agent(sample): return 'x'\n"


def load(folder, target):
    folder.write("a.py", AGENT)
    folder.write("models.yaml", "models: {}\n")
    folder.suite(f"target: {target}")
    return load_suite(folder.path / "suite.yaml").target


def faults(folder, target):
    folder.write("a.py", AGENT)
    folder.suite(f"target: {target}")
    return [fault.partition(": ")[2] for fault in folder.faults()]


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ("", ("default",)),
        (", model: a/b", ("a/b",)),
        (", models: [a, b, 4.10]", ("a", "b", "4.10")),
        (", models: [scripted/x], script: models.yaml", ("scripted/x",)),
    ],
)
def test_a_target_has_its_models(folder, models, expected):
    target = load(folder, f"{{kind: python, agent: 'a.py:agent'{models}}}")
    assert (target.kind, target.models) == ("python", expected)
    assert target.target.agent.value.__name__ == "agent"


def test_names_of_the_environment_are_filled_in_but_not_in_prose(folder, monkeypatch):
    monkeypatch.setenv("PLACE", "http://127.0.0.1:1")
    monkeypatch.setenv("STEPS", "7")
    monkeypatch.setenv("FOLDER", str(folder.path))
    target = load(folder, BLOCK)
    assert target.models == ("m",)
    assert target.target.base_url == "http://127.0.0.1:1/v1"
    assert target.target.max_steps == 7
    assert target.target.instructions == "say ${PLACE}"
    assert dict(target.target.request) == {"user": "a7", "temperature": 0.7, "seed": "010"}


def test_a_secret_stands_neither_in_the_text_nor_in_the_fingerprint(folder, monkeypatch):
    monkeypatch.setenv("TOKEN", "canary-secret")
    target = load(folder, "{kind: openai, model: m, request: {user: '${TOKEN}'}}")
    assert dict(target.target.request) == {"user": "canary-secret"}
    suite = load_suite(folder.path / "suite.yaml")
    assert "canary" not in suite.text + str(suite.target.fingerprint)


def test_a_fault_shows_no_value_of_the_environment(folder, monkeypatch):
    monkeypatch.setenv("TOKEN", "canary-secret")
    [fault] = faults(folder, "{kind: openai, model: m, max_steps: '${TOKEN}'}")
    assert "canary" not in fault
    assert "${TOKEN}" in fault


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("{kind: pyton, agent: x}", 'target.kind: unknown kind of target "pyton"; did you mean'),
        ("{agent: 'a.py:agent'}", 'target: "kind" is missing; allowed: '),
        ("python", "target: found the text 'python'; a mapping with a `kind`"),
        ("{kind: python}", 'target: "agent" is missing'),
        ("{kind: python, agnt: 'a.py:agent'}", 'unknown key "agnt"; did you mean "agent"?'),
        ("{kind: python, agent: 'a.py:agnt'}", 'a.py has no "agnt"; did you mean "agent"?'),
        ("{kind: python, agent: 'b.py:agent'}", 'there is no file "b.py"; did you mean "a.py"?'),
        ("{kind: python, agent: agent}", "names no object of a Python file; write file.py:name"),
        ("{kind: python, agent: 'a.py:agent', models: []}", "found a list; at least 1"),
        ("{kind: python, agent: 'a.py:agent', models: m}", "found the text 'm'; a list of texts"),
        ("{kind: python, agent: 'a.py:agent', models: [a, a]}", 'the model "a" is listed twice'),
        ("{kind: python, agent: 'a.py:agent', model: ''}", "this is no name of a model"),
        ("{kind: python, agent: 'a.py:agent', model: a, models: [b]}", "are both given"),
        ("{kind: python, agent: 'a.py:agent', model: scripted/a}", '"scripted/a" needs a script'),
        ("{kind: python, agent: 'a.py:agent', script: s.yaml}", 'there is no file "s.yaml"'),
        ("{kind: python, agent: '${UNSET_HERE}'}", "the environment variable UNSET_HERE is not"),
    ],
)
def test_a_wrong_target_is_one_fault(folder, target, expected):
    found = faults(folder, target)
    assert len(found) == 1, found
    assert expected in found[0]


def test_the_fingerprint_is_of_the_options_and_the_code_not_of_the_models(folder):
    def print_of(target):
        return load(folder, target).fingerprint

    agent = "{kind: python, agent: 'a.py:agent'"
    plain = print_of(f"{agent}}}")
    assert print_of(f"{agent}, models: [x, y]}}") == plain
    assert print_of(f"{agent}, script: models.yaml}}") != plain
    folder.write("b.py", AGENT + "# other\n")
    assert print_of("{kind: python, agent: 'b.py:agent'}") != plain


CHECKED = """
from contextlib import nullcontext
from dataclasses import dataclass
from harness.types.code import CodeRef
from harness.types.errors import Fault

@dataclass(frozen=True, kw_only=True)
class Checked:
    agent: CodeRef
    def connect(self, run_context, /):
        return nullcontext()
    def check(self, fixture_names, /):
        if self.agent.name == "broken":
            raise RuntimeError("not again")
        if self.agent.name not in fixture_names:
            yield Fault(file=self.agent.file.text, line=1, problem=f"no {self.agent.name}")

TARGETS = {"checked": Checked}
"""
FIXTURE = "from harness.types.marks import fixture\n@fixture\ndef db():\n    yield 1\n"


@pytest.fixture
def checked(tmp_path_factory, monkeypatch):
    """Install a target that checks the user's code against the fixtures."""
    path = tmp_path_factory.mktemp("packages")
    monkeypatch.syspath_prepend(path)
    (path / "checked_target.py").write_text(CHECKED)
    info = path / "checked-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: checked\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[regrade.targets]\nx = checked_target:TARGETS\n")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("db", []),
        ("dc", ["a.py:1: no dc"]),
        (
            "broken",
            ["suite.yaml:4:9: target: the target's check broke: RuntimeError: not again"],
        ),
    ],
)
def test_a_target_may_check_the_code_of_the_user_once_the_fixtures_are_known(
    folder, checked, name, expected
):
    folder.write("a.py", FIXTURE + "def dc(): ...\ndef broken(): ...\n")
    folder.suite(f"target: {{kind: checked, agent: 'a.py:{name}'}}")
    assert folder.faults() == expected
    if expected:
        with pytest.raises(SuiteError):
            load_suite(folder.path / "suite.yaml")


def test_a_target_is_not_checked_while_a_file_that_may_hold_its_fixtures_is_broken(folder, checked):
    folder.write("a.py", "def dc(): ...\n")
    folder.write("g.py", "1 / 0\n")
    folder.suite(
        "target: {kind: checked, agent: 'a.py:dc'}\ngraders: {g: {type: 'g.py:f'}}", graders=False
    )
    [fault] = folder.faults()
    assert fault.startswith("g.py:1: the file cannot be loaded")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("{kind: openai}", "target: no model is named; `models:` under `target` lists the models"),
        ("{kind: openai, models: }", "target.models: found nothing; names of models, or leave"),
        ("{kind: python, agent: 'a.py:agent', model: }", "target.model: found nothing"),
        (
            "{kind: openai, model: m, base_url: 'localhost:8000/v1'}",
            "target.base_url: found the text 'localhost:8000/v1'; a text that matches ^https?://.",
        ),
        ("{kind: openai, model: m, base_url: ''}", "target.base_url: found the text ''"),
    ],
)
def test_a_target_that_cannot_run_is_a_fault(folder, target, expected):
    [fault] = faults(folder, target)
    assert fault.startswith(expected)


def test_a_misspelt_agent_is_met_by_functions_and_classes_of_the_file_alone(folder):
    code = "import json\nfrom pathlib import Path\nclass Agent: ...\ndef agent(sample): ...\n"
    folder.write("b.py", f"{code}TABLE = {{}}\ndef _own(): ...\n")
    [fault] = faults(folder, "{kind: python, agent: 'b.py:zzz'}")
    assert fault.endswith('b.py has no "zzz"; allowed: Agent, agent')
