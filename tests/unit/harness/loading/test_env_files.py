import pytest

from harness.loading.env_files import read_env_file
from harness.types.errors import InputError


def _read(folder, data, environ=None):
    path = folder / "keys.env"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    environ = {} if environ is None else environ
    read_env_file(path, environ)
    return environ


def test_variables_are_read_as_a_shell_would_write_them(tmp_path):
    text = "# keys\n\nA=1\nexport B='two words'\nC=\"x\\ny\" # note\nD=\nE=${A}2\n"
    assert _read(tmp_path, text) == {
        "A": "1",
        "B": "two words",
        "C": "x\ny",
        "D": "",
        "E": "12",
    }


def test_a_variable_that_is_set_stays(tmp_path):
    assert _read(tmp_path, "A=1\nB=2\n", {"A": "mine"}) == {"A": "mine", "B": "2"}


def test_what_is_filled_in_is_what_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("A", "mine")
    assert _read(tmp_path, "A=1\nB=${A}2\n", {"A": "mine"})["B"] == "mine2"


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    assert _read(tmp_path, b"\xef\xbb\xbfA=1\n") == {"A": "1"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("A=1\nB 2\n", "keys.env:2: no variable; NAME=value"),
        ("A=1\n\nB='open\n", "keys.env:3: no variable; NAME=value"),
        ("A\n", "keys.env:1: no variable; NAME=value"),
        (b"A=\xff\n", "keys.env: is not UTF-8"),
        (b"A=x\0y\n", "keys.env: the value of A holds a NUL"),
    ],
)
def test_a_line_that_sets_nothing_is_a_mistake_with_its_place(tmp_path, data, said):
    environ = {}
    with pytest.raises(InputError) as raised:
        _read(tmp_path, data, environ)
    assert str(raised.value) == f"{tmp_path}/{said}"
    assert environ == {}


@pytest.mark.parametrize("name", ["absent.env", "."])
def test_a_file_that_cannot_be_read_is_a_mistake(tmp_path, name):
    with pytest.raises(InputError, match="cannot be read"):
        read_env_file(tmp_path / name, {})


def test_no_value_is_told_of_a_mistake(tmp_path):
    with pytest.raises(InputError) as raised:
        _read(tmp_path, "THE_KEY canary-9f3a\n")
    assert "canary" not in str(raised.value)
