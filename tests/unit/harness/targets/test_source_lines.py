import pytest

from harness.system.private_modules import PrivateModules
from harness.targets.source_lines import line_of
from harness.types.code import CodeFile

SOURCE = """
from dataclasses import dataclass
from functools import wraps
from json import JSONDecoder, dumps

class Bare: ...

class Made:
    def __init__(self): ...

@dataclass
class Record:
    x: int

def plain(): ...

def logged(function):
    @wraps(function)
    def inner(*args): ...
    return inner

@logged
def decorated(): ...

number = 5
"""


@pytest.fixture
def code(tmp_path):
    path = tmp_path / "agent.py"
    path.write_text(SOURCE, encoding="utf-8")
    modules = PrivateModules(tmp_path)
    return CodeFile(text="agent.py", path=path, module=modules.load(path), sha256="")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Bare", 6),
        ("Made", 9),
        ("Record", 11),
        ("plain", 15),
        ("decorated", 22),
        ("dumps", 0),
        ("JSONDecoder", 0),
        ("number", 0),
    ],
)
def test_a_definition_has_the_line_where_it_begins_in_its_own_file(code, name, line):
    assert line_of(code, getattr(code.module, name)) == line


def test_a_file_that_has_changed_since_gives_no_line(code):
    code.path.write_text("", encoding="utf-8")
    assert line_of(code, code.module.Bare) == 0
