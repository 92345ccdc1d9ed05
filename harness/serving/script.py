"""A script's file comes in, the script goes out, or every fault of it at once."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness.serving.script_checks import Problem, script_problems, suggestion
from harness.serving.script_nodes import Document, dotted, read_document
from harness.serving.script_records import Rule, Script, When
from harness.system.texts import one_line
from harness.types.errors import Fault, SuiteError

__all__ = ["Script", "parse_script", "read_script"]

_SCRIPT = TypeAdapter(Script)
_HINTS = {"string_type": "quote a number or a word such as true to make it a text"}
_TYPES = {
    "string_type": "not a text",
    "dataclass_type": "not a mapping",
    "dict_type": "not a mapping",
    "mapping_type": "not a mapping",
    "tuple_type": "not a list",
}


def read_script(path: Path) -> Script:
    """Read a script from its YAML file.

    Raises:
        SuiteError: with every fault of the file.
    """
    file = str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SuiteError([Fault(file=file, problem=f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise SuiteError([Fault(file=file, problem=f"not UTF-8: {error}")]) from error
    return parse_script(text, file)


def parse_script(text: str, file: str) -> Script:
    """Read a script from YAML text; `file` is what faults call it. Raises as `read_script`."""
    document = read_document(text, file)
    if document.faults and document.value is None:
        raise SuiteError(document.faults)
    script, problems = _check(document)
    faults = [_fault(document, file, problem) for problem in problems]
    # What is refused while it is read is missing afterwards: that needs no second fault.
    refused = {fault.path for fault in document.faults}
    refused |= {path.rpartition(".")[0] for path in refused}
    new = [fault for fault in faults if fault.path not in refused]
    if script is None or document.faults or new:
        raise SuiteError(sorted([*document.faults, *new]))
    return replace(script, models=_joined(script))


def _check(document: Document) -> tuple[Script | None, list[Problem]]:
    try:
        script = _SCRIPT.validate_python(document.value)
    except ValidationError as error:
        return None, [(detail["loc"], *_in_words(dict(detail))) for detail in error.errors()]
    return script, list(script_problems(script))


def _fault(document: Document, file: str, problem: Problem) -> Fault:
    place, wrong, allowed = problem
    line, column = document.place(place)
    return Fault(
        file=file, line=line, column=column, path=dotted(place), problem=wrong, allowed=allowed
    )


def _in_words(detail: dict[str, Any]) -> tuple[str, str]:
    """Say what pydantic found, and what is allowed, in the words of a script."""
    kind, found = detail["type"], one_line(repr(detail["input"]), 60)
    if kind == "unexpected_keyword_argument":
        return "unknown key", suggestion(str(detail["loc"][-1]), _keys_beside(detail["loc"]))
    if kind in {"missing", "missing_argument"}:
        return "missing", ""
    if kind == "value_error":
        return str(detail["ctx"]["error"]), ""
    wrong = _TYPES.get(kind, str(detail["msg"]))
    return f"{wrong}: {found}", _HINTS.get(kind, "")


def _keys_beside(place: tuple[str | int, ...]) -> list[str]:
    """Give the keys that are known where the last part of a place stands."""
    record = When if "when" in place[3:-1] else Rule if "models" in place[:-1] else Script
    return [field.name for field in fields(record)]


def _joined(script: Script) -> dict[str, tuple[Rule, ...]]:
    """Put the rules of the other model in the place of each `like`."""
    models: dict[str, tuple[Rule, ...]] = {}
    for name, rules in script.models.items():
        models[name] = tuple(
            joined for rule in rules for joined in (models[rule.like] if rule.like else (rule,))
        )
    return models
