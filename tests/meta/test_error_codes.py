"""The table of error codes and the source agree: each code is used, and none is made up."""

import ast

from harness.types.errors import POLICIES

TABLE = "harness/types/errors.py"
CARRIERS = {"Failure", "GraderError", "HarnessError", "TargetError"}
"""What carries a code of the table; a reply of a model server has codes of its own."""

OTHER_CODES = {"bad_input", "store"}
"""Codes of errors that no trial ends with."""


def named_codes(tree):
    """Give the literal codes that errors are given: `TargetError("...", code="...")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in CARRIERS:
            for keyword in node.keywords:
                if keyword.arg == "code":
                    yield from ((code, node.lineno) for code in literals(keyword.value))


def literals(tree):
    return [n.value for n in ast.walk(tree) if isinstance(getattr(n, "value", None), str)]


def test_every_code_of_the_table_is_used(sources):
    used = set().union(*(literals(source.tree) for source in sources if source.path != TABLE))
    assert sorted(POLICIES.keys() - used) == []


def test_no_code_is_used_that_the_table_does_not_know(sources):
    found = [
        f"{source.path}:{line}: {code}"
        for source in sources
        for code, line in named_codes(source.tree)
        if code not in POLICIES.keys() | OTHER_CODES
    ]
    assert found == []
