"""Small and plain, and one word for one thing: the sizes, the names, the direction of imports."""

import ast
from collections import Counter
from pathlib import PurePosixPath
from statistics import quantiles

SHARED_NAMES = {"__init__.py", "catalogue.py"}
FILE_LINES = 400
FUNCTION_LINES = 60
LONG_FUNCTION_LINES = 25


def functions(source):
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, node.end_lineno - node.lineno + 1


def test_a_file_name_occurs_once(sources):
    names = Counter(PurePosixPath(source.path).name for source in sources)
    assert [name for name, n in names.items() if n > 1 and name not in SHARED_NAMES] == []


def test_a_package_file_holds_its_docstring_alone(sources):
    found = [
        source.path
        for source in sources
        if source.path.endswith("/__init__.py") and source.path != "harness/__init__.py"
        if len(source.tree.body) != 1 or not ast.get_docstring(source.tree)
    ]
    assert found == []


def test_no_file_is_long(sources):
    lengths = {source.path: source.text.count("\n") for source in sources}
    assert {path: n for path, n in lengths.items() if n > FILE_LINES} == {}


def test_no_function_is_long(sources):
    found = [
        f"{source.path}:{node.lineno}: {node.name} has {lines} lines"
        for source in sources
        for node, lines in functions(source)
        if lines > FUNCTION_LINES
    ]
    assert found == []


def test_nine_functions_of_ten_are_short(sources):
    lengths = [lines for source in sources for _, lines in functions(source)]
    assert quantiles(lengths, n=10)[-1] < LONG_FUNCTION_LINES


def test_the_engine_names_no_module_of_the_built_in_graders(sources):
    found = [
        f"{source.path}:{node.lineno}"
        for source in sources
        if source.path.startswith("harness/")
        for node in ast.walk(source.tree)
        if names_graders(node)
    ]
    assert found == []


def names_graders(node):
    """Say whether a node imports the package `graders`, by a statement or by a text."""
    match node:
        case ast.Import(names=names):
            return any(alias.name.partition(".")[0] == "graders" for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] == "graders"
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name),
            args=[ast.Constant(value=str(text)), *_],
        ):
            return name in {"import_module", "__import__"} and text.startswith("graders")
    return False
