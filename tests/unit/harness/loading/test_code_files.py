import builtins
import json
import subprocess
import sys

import pytest

from harness.documents.findings import BadReference
from harness.loading.code_files import BrokenFile, CodeFiles, is_code_ref
from harness.loading.suite_paths import Folder


@pytest.fixture
def code(folder):
    return CodeFiles(Folder(path=folder.path, shown=""))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tools.py:f", True),
        (r"C:\evals\tools.py:f", True),
        ("sub/tools.PY:f", True),
        ("tools.py", False),
        ("contains", False),
        ("a:b", False),
        ("tools.py:a:b", False),
    ],
)
def test_a_reference_is_split_at_its_last_colon(text, expected):
    assert is_code_ref(text) is expected


def test_an_object_of_a_file_is_found_by_its_name_or_by_that_of_its_mark(folder, code):
    folder.write(
        "g.py",
        "from __future__ import annotations\nfrom harness.types.marks import grader\n"
        "@grader(name='other')\ndef f(sample: Sample, submission: str) -> float: ...\n",
    )
    found = code.ref("g.py:f", {})
    assert found.value is code.ref("g.py:other", {}).value
    assert (found.text, found.name, found.file.text) == ("g.py:f", "f", "g.py")


@pytest.mark.parametrize("statement", ["import b", "from . import b", "from .b import v as b"])
def test_a_sibling_is_imported_by_its_plain_name_and_by_a_relative_import(folder, code, statement):
    folder.write("b.py", "v = 7\n")
    folder.write("a.py", f"{statement}\nvalue = getattr(b, 'v', b)\n")
    assert code.ref("a.py:value", {}).value == 7


def test_packages_beside_the_file_are_imported(folder, code):
    folder.write("pack/__init__.py", "from . import inner\nfrom .inner import x\n")
    folder.write("pack/inner.py", "import b\nx = b.v + 1\n")
    folder.write("b.py", "v = 7\n")
    folder.write(
        "a.py", "import pack.inner\nimport pack.inner as i\nfrom pack import *\nv = pack.x + i.x\n"
    )
    assert code.ref("a.py:v", {}).value == 16


def test_an_import_inside_a_function_finds_the_sibling_when_it_is_called(folder, code):
    folder.write("b.py", "v = 7\n")
    folder.write("a.py", "def f():\n    import b\n    return b.v\n")
    assert code.ref("a.py:f", {}).value() == 7


def test_a_sibling_comes_before_an_installed_module_of_its_name(folder, code):
    folder.write("json.py", "v = 'ours'\n")
    folder.write("a.py", "import json\nimport csv\nv = json.v\n")
    assert code.ref("a.py:v", {}).value == "ours"
    assert json.loads("1") == 1


def test_a_file_is_run_once_however_it_is_reached(folder, code):
    folder.write(
        "b.py", "import builtins\ncount = builtins.__dict__.setdefault('_n', [])\ncount.append(1)"
    )
    folder.write("a.py", "import b\nfrom . import b as c\nsame = b is c\n")
    assert code.ref("a.py:same", {}).value is True
    assert code.ref("b.py:count", {}).value == [1]
    del builtins._n


def test_two_suites_do_not_see_each_others_files_and_the_search_path_stays(folder):
    before, known = list(sys.path), set(sys.modules)
    for name in ("one", "two"):
        folder.write(f"{name}/b.py", f"v = '{name}'\n")
        folder.write(f"{name}/a.py", "import b\n")
    one, two = (CodeFiles(Folder(path=folder.path / name)) for name in ("one", "two"))
    assert one.file("a.py", {}).module.b.v == "one"
    assert two.file("a.py", {}).module.b.v == "two"
    assert sys.path == before
    assert all(name.startswith("regrade_suite_") for name in set(sys.modules) - known)


def test_nothing_is_written_beside_the_files_and_an_edit_is_seen_at_once(folder):
    folder.write("a.py", "v = 1\n")
    assert CodeFiles(Folder(path=folder.path)).ref("a.py:v", {}).value == 1
    folder.write("a.py", "v = 2\n")
    assert CodeFiles(Folder(path=folder.path)).ref("a.py:v", {}).value == 2
    assert [path.name for path in folder.path.iterdir()] == ["a.py"]


def test_the_hash_covers_the_file_and_the_siblings_it_imports(folder):
    def hashed():
        return CodeFiles(Folder(path=folder.path)).file("a.py", {}).sha256

    folder.write("a.py", "import b\n")
    folder.write("b.py", "import c\n")
    folder.write("c.py", "v = 1\n")
    folder.write("d.py", "v = 1\n")
    first = hashed()
    assert first == hashed()
    folder.write("d.py", "v = 2\n")
    assert first == hashed()
    folder.write("c.py", "v = 2\n")
    assert first != hashed()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "x = 1\nimport not_installed_anywhere\n",
            (
                "a.py:2: the file cannot be loaded: ModuleNotFoundError: No module named "
                "'not_installed_anywhere'; install the package that gives "
                "not_installed_anywhere, or put not_installed_anywhere.py beside the file"
            ),
        ),
        ("def f(:\n", "a.py:1:7: the file is no Python: invalid syntax"),
        ("\n\n1 / 0\n", "a.py:3: the file cannot be loaded: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "a.py:1: the file cannot be loaded: SystemExit: 3"),
        ("import b\n", "b.py:2: the file cannot be loaded: ValueError: deep"),
        (
            "from . import nothing_here\n",
            "a.py:1: the file cannot be loaded: ImportError: cannot import name 'nothing_here'",
        ),
        ("x = '\xe9'\n".encode("latin-1"), "a.py:1"),
        (b"x = 1\0\n", "a.py"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_one_fault_at_the_line_of_the_user(
    folder, code, text, fault
):
    folder.write("b.py", "\nraise ValueError('deep')\n")
    folder.write("a.py", text)
    for name in ("f", "g"):
        with pytest.raises(BrokenFile):
            code.ref(f"a.py:{name}", {})
    [found] = code.faults.values()
    assert str(found).startswith(fault)
    assert "regrade_suite" not in str(found)


@pytest.mark.parametrize(
    ("text", "problem", "allowed"),
    [
        ("a.py:lok_up", 'a.py has no "lok_up"', 'did you mean "look_up"?'),
        ("b.py:f", 'there is no file "b.py"', 'did you mean "a.py"?'),
        ("a.py:", "names no object", "write file.py:name"),
        ("notes.txt:f", "names no object", "write file.py:name"),
    ],
)
def test_a_reference_that_leads_nowhere_says_what_may_have_been_meant(
    folder, code, text, problem, allowed
):
    folder.write("a.py", "def look_up(): ...\n")
    folder.write("notes.txt", "")
    with pytest.raises(BadReference) as caught:
        code.ref(text, {})
    assert problem in caught.value.problem
    assert caught.value.allowed == allowed


@pytest.mark.parametrize("name", ["harness", "graders"])
def test_a_file_called_as_our_package_is_reached_by_a_relative_import_and_said_to_be(
    folder, code, name
):
    folder.write(f"{name}.py", "v = 'theirs'\n")
    folder.write("a.py", f"import {name}\nfrom . import {name} as own\nv = own.v\n")
    assert code.ref("a.py:v", {}).value == "theirs"
    assert code.file("a.py", {}).module.__dict__[name] is sys.modules[name]
    assert [str(fault) for fault in code.hidden_siblings()] == [
        (
            f'a.py:1: "{name}" means Regrade\'s package here, not the file beside this one; '
            f"a relative import, such as `from . import {name}`, reaches the file"
        )
    ]


def test_a_name_that_only_the_file_beside_has_is_explained(folder, code):
    folder.write("graders.py", "def mine(): ...\n")
    folder.write("a.py", "from graders import mine\n")
    with pytest.raises(BrokenFile):
        code.file("a.py", {})
    [fault] = code.faults.values()
    assert "a.py:1: the file cannot be loaded: ImportError" in str(fault)
    assert "`from . import graders` reaches the file beside" in str(fault)


def test_a_suite_works_inside_a_project_that_owns_folders_of_our_names(folder):
    for name in ("harness", "graders"):
        folder.write(f"{name}/__init__.py", f"raise RuntimeError('{name} of the project')\n")
    folder.write("a.py", "import harness\nfrom graders import catalogue\nv = catalogue.GRADERS\n")
    script = (
        "import sys; from harness.loading.code_files import CodeFiles;"
        "from harness.loading.suite_paths import Folder; from pathlib import Path;"
        "from harness.loading.plugins import find_plugins;"
        "sys.path.insert(0, '');"
        "print('contains' in find_plugins('regrade.graders'));"
        "code = CodeFiles(Folder(path=Path.cwd()));"
        "print('contains' in code.ref('a.py:v', {}).value, code.hidden_siblings())"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=folder.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["True", "True []"], done.stderr


def test_a_clash_that_python_itself_makes_is_said_in_one_line(folder):
    folder.write("graders/__init__.py", "")
    script = (
        "import sys; sys.path.insert(0, ''); import graders;"
        "from harness.loading.plugins import find_all_plugins;"
        "print(*find_all_plugins().faults, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=folder.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'the package "graders" that is loaded is not Regrade\'s' in done.stdout, done.stderr


def test_folders_without_an_init_file_are_packages(folder, code):
    folder.write("sub/deep.py", "from .below.most import K\nfrom sub import other\nL = other.M\n")
    folder.write("sub/below/most.py", "K = 1\n")
    folder.write("sub/other.py", "M = 2\n")
    folder.write(
        "g.py",
        "from sub.deep import K, L\nimport sub.other\n"
        "def f(submission): return K, L, sub.other.M\n",
    )
    found = code.ref("g.py:f", {})
    assert found.value("") == (1, 2, 2)
    before = found.file.sha256
    folder.write("sub/below/most.py", "K = 3\n")
    assert CodeFiles(Folder(path=folder.path, shown="")).file("g.py", {}).sha256 != before


def test_a_folder_of_data_hides_no_module_that_is_installed(folder, code):
    folder.write("json/data.txt", "")
    folder.write("regex/data.txt", "")
    folder.write("g.py", "import json, regex\nA = json.dumps, regex.compile\n")
    assert code.file("g.py", {}).module.A


@pytest.mark.parametrize(
    ("source", "line", "problem"),
    [
        ("from sub.deep import K\n", 1, "there is no sub/deep.py beside the file"),
        ("from no_such.deep import K\n", 1, "or put no_such.py beside the file"),
        ("# coding: no-such\n", 0, "the file is no Python: unknown encoding"),
        (
            "class E(ImportError):\n    def __str__(self): raise ValueError\nraise E\n",
            3,
            "the file cannot be loaded: E: (its message cannot be shown)",
        ),
        (
            "class E(ImportError):\n    def __str__(self): raise SystemExit\nraise E\n",
            3,
            "the file cannot be loaded: E",
        ),
    ],
)
def test_every_way_a_file_can_fail_has_its_line_and_reason(folder, code, source, line, problem):
    folder.write("sub/other.py", "")
    path = folder.write("g.py", source)
    with pytest.raises(BrokenFile):
        code.file("g.py", {})
    fault = code.faults[path.resolve()]
    assert (fault.line, fault.column >= 0) == (line, True)
    assert problem in str(fault)


def test_a_misspelt_function_is_met_by_the_functions_of_the_file_alone(folder, code):
    folder.suite("graders: {g: {type: 'g.py:zzz'}}", graders=False)
    folder.write(
        "g.py", "from dataclasses import dataclass\nclass C: ...\ndef mine(submission): ...\n"
    )
    [fault] = folder.faults()
    assert fault.endswith('g.py has no "zzz"; allowed: mine')
