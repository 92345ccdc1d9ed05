import pytest

from harness.types.errors import SuiteError
from harness.types.suites import Suite

CODE = """
class Hider: pass
hide = None
async def late(trial): ...
def pieces(trial): yield trial
def two(trial, other): ...
def none(): ...
def right(trial): ...
def more(trial, deep=True): ...
"""


def _suite(folder, name):
    (folder / "hiding.py").write_text(CODE, encoding="utf-8")
    document = {
        "name": "s",
        "samples": [{"input": "Hi"}],
        "graders": {"g": {"type": "exit-success"}},
        "redact": f"hiding.py:{name}",
    }
    return Suite.from_mapping(document, folder=folder)


@pytest.mark.parametrize("name", ["right", "more"])
def test_a_function_of_one_trial_redacts(tmp_path, name):
    redact = _suite(tmp_path, name).redact
    assert redact is not None
    assert redact.name == name


@pytest.mark.parametrize("name", ["Hider", "hide", "late", "pieces", "two", "none"])
def test_anything_else_is_refused_with_what_is_allowed(tmp_path, name):
    with pytest.raises(SuiteError, match=rf"redact: hiding.py:{name} .*; a plain function of one"):
        _suite(tmp_path, name)


def test_a_function_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SuiteError, match="redact: "):
        _suite(tmp_path, "absent")
