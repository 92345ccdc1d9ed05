"""What is wrong with a text that is not YAML, in one plain sentence with its place."""

from typing import Any

from yaml import YAMLError
from yaml.reader import ReaderError

from harness.documents.nodes import Position

_INDENT_WITH_SPACES = "indent with spaces"
_QUOTE = "quote a text that holds it"

_EXPLANATIONS: tuple[tuple[str, str, str], ...] = (
    ("found a tab character", "a tab where YAML wants spaces", _INDENT_WITH_SPACES),
    (
        "mapping values are not allowed",
        "a `:` where no value can follow",
        "quote a text that holds `: `, or mend the indentation of the lines above",
    ),
    ("could not find expected ':'", "this is not `key: value`", "write `key: value`"),
    (
        "did not find expected key",
        "the line fits nothing above it",
        "mend its indentation; in a mapping every line is `key: value`",
    ),
    (
        "did not find expected '-' indicator",
        "the line fits nothing above it",
        "mend its indentation; in a list every item begins with `- `",
    ),
    (
        "expected ',' or ']'",
        "a list in brackets is not closed before this",
        "close it with `]`, or quote a text that holds brackets",
    ),
    (
        "expected ',' or '}'",
        "a mapping in braces is not closed before this",
        "close it with `}`, or quote a text that holds braces",
    ),
    ("found unexpected end of stream", "a quoted text is not closed", "close its quotes"),
    (
        "found unknown escape character",
        "a text in double quotes holds a backslash that escapes nothing",
        "use single quotes for patterns and paths",
    ),
    ("exceeded maximum nesting", "nested too deeply", "at most 100 levels"),
    ("found incompatible YAML document", "a version of YAML that is not read", "YAML 1.2"),
)


def explain(error: YAMLError, text: str) -> tuple[Position, str, str]:
    """Return position, problem and what is allowed for an error of the YAML parser."""
    if isinstance(error, ReaderError):
        return _unreadable(error, text)
    problem = str(getattr(error, "problem", None) or error).splitlines()[0]
    mark = getattr(error, "problem_mark", None)
    if "end of stream" in problem:
        mark = getattr(error, "context_mark", None) or mark
    position = Position(mark.line + 1, mark.column + 1) if mark else Position()
    if "cannot start any token" in problem:
        return position, *_bad_start(_character_at(text, mark))
    for part, plain, allowed in _EXPLANATIONS:
        if part in problem:
            return position, plain, allowed
    context = getattr(error, "context", None)
    return position, f"this is not YAML: {f'{context}: ' if context else ''}{problem}", ""


def _unreadable(error: Any, text: str) -> tuple[Position, str, str]:
    before = text[: error.position]
    position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
    code = error.character if isinstance(error.character, int) else ord(error.character)
    return position, f"the character U+{code:04X} is not allowed in YAML", "remove it"


def _bad_start(character: str) -> tuple[str, str]:
    if character == "\t":
        return "a tab where YAML wants spaces", _INDENT_WITH_SPACES
    return f"a text cannot begin with {character} unless it is quoted", _QUOTE


def _character_at(text: str, mark: Any) -> str:
    lines = text.split("\n")
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    return line[mark.column] if mark and mark.column < len(line) else ""
