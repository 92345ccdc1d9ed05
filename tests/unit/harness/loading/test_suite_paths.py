import pytest

from harness.documents.findings import BadReference
from harness.loading.suite_paths import Folder, close_file, resolve_path


@pytest.fixture
def place(tmp_path):
    (tmp_path / "data" / "cases").mkdir(parents=True)
    (tmp_path / "data" / "cases" / "x.jsonl").write_text("")
    (tmp_path / "data" / "my file.csv").write_text("")
    return Folder(path=tmp_path, shown="suites/a")


@pytest.mark.parametrize(
    "text",
    [
        "data/cases/x.jsonl",
        r"data\cases\x.jsonl",
        "./data/cases/x.jsonl",
        "data/../data/cases/x.jsonl",
        "file://data/cases/x.jsonl",
        r"file://data\cases\x.jsonl",
        "FILE://data/cases/x.jsonl",
        "${DIR}/cases/x.jsonl",
        "${NONE:-data}/cases/x.jsonl",
    ],
)
def test_a_path_is_found_however_it_is_written(place, text):
    found = resolve_path(text, place, {"DIR": "data"})
    assert found.path == place.path / "data" / "cases" / "x.jsonl"
    assert "\\" not in found.text


def test_an_absolute_path_and_a_url_with_escapes_are_found(place):
    absolute = place.path / "data" / "my file.csv"
    assert resolve_path(str(absolute), place, {}).path == absolute
    assert resolve_path(absolute.as_uri(), place, {}).path == absolute


@pytest.mark.parametrize(
    ("text", "problem", "allowed"),
    [
        ("data/cases/y.jsonl", 'there is no file "data/cases/y.jsonl"', 'mean "x.jsonl"?'),
        ("nowhere/y.jsonl", 'there is no file "nowhere/y.jsonl"', "nor the folder"),
        ("data/cases/*.jsonl", "there is no file", "patterns are not read"),
        ("data\new\table.csv", "holds the control character '\\n'", "use single quotes"),
        ("a\tb", "holds the control character '\\t'", "use single quotes"),
        ("a\0b", "holds the control character '\\x00'", "use single quotes"),
        ("", "the path is empty", ""),
        (r"C:\evals\new\table.csv", "there is no file", ""),
        ("x" * 5000, "there is no file", ""),
        ("${UNSET}/x", "the environment variable UNSET is not set", "write ${UNSET:-default}"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(place, text, problem, allowed):
    with pytest.raises(BadReference) as caught:
        resolve_path(text, place, {})
    assert problem in caught.value.problem
    assert allowed in caught.value.allowed


def test_a_path_is_shown_as_the_caller_would_write_it(place, tmp_path):
    assert place.show(tmp_path / "data" / "x.py") == "suites/a/data/x.py"
    assert place.show(tmp_path.parent / "x.py") == (tmp_path.parent / "x.py").as_posix()
    assert Folder(path=tmp_path, shown=".").show(tmp_path / "x.py") == "x.py"


def test_a_link_to_nothing_is_said_to_be_one(folder):
    (folder.path / "d.jsonl").symlink_to("nowhere")
    folder.suite("dataset: d.jsonl", samples=False)
    [fault] = folder.faults()
    assert '"d.jsonl" is a link to a file that is not there' in fault


@pytest.mark.parametrize(
    ("name", "names", "close"),
    [
        ("missing.af", ["af_missing.yaml", "tools.py"], None),
        ("missing.py", ["af_missing.yaml", "missing.d"], "missing.d"),
        ("tols.py", ["tools.yaml", "tools.py"], "tools.py"),
        ("TOOLS.PY", ["tools.py"], "tools.py"),
        ("samples.json", ["samples.jsonl", "suite.yaml"], "samples.jsonl"),
        ("suite.yml", ["suite.yaml", "models.yaml"], "suite.yaml"),
        ("tools.py", ["tools"], None),
        ("sample", ["samples", "suite.yaml"], "samples"),
        ("x.py", [], None),
    ],
)
def test_a_file_that_may_be_meant_is_of_the_same_kind_or_name(name, names, close):
    assert close_file(name, names) == close
