"""Imports every file of a folder and prints a table of what each gives.

    python import_table.py FOLDER

A row is a file: the format that is told from its shape and, for each conversation, how many turns
of the user, calls, results and failed results it has, and how its last answer begins. A folder may
hold `expected.jsonl`, one line a file: `{"file": "a/b.json", "conversations": [{"users": 1,
"calls": 0, "results": 0, "failed": 0, "final_answer": "Hel"}]}`, with null for a trial without a
conversation. Rows that differ from it are marked, files that are missing are named, exit 1.
"""

import json
import sys
from collections.abc import Container, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.importers.format_finding import read_with_formats
from harness.importers.source_files import SourceFile
from harness.loading.plugins import IMPORTERS, find_plugins
from harness.messages.response_items import FAILED_CALL
from harness.system.texts import one_line
from harness.types.errors import Fault, InputError
from harness.types.events import AssistantMessage, ErrorEvent, ToolCall, ToolResult, UserMessage
from harness.types.imports import Imported, Importer

EXPECTED = "expected.jsonl"
COUNTS = ("users", "calls", "results", "failed")
SHOWN_ANSWER = 48
NOTES = {".md", ".txt"}
WIDTH = 200


class Row(NamedTuple):
    """What a file gave: one mapping a conversation, None for a trial without one."""

    file: str
    told: str
    conversations: tuple[Mapping[str, object] | None, ...]
    problem: str = ""


def main(arguments: list[str]) -> int:
    """Print the table of a folder; 1 where it differs from what is expected, 2 for no folder."""
    folder = Path(arguments[0]) if len(arguments) == 1 else None
    if folder is None or not folder.is_dir():
        print("usage: scripts/import-table FOLDER", file=sys.stderr)
        return 2
    expected = read_expected(folder / EXPECTED)
    rows = list(read_rows(folder, expected or {}))
    differing = {row.file: problem for row in rows if (problem := differs(row, expected))}
    missing = sorted((expected or {}).keys() - {row.file for row in rows})
    print_table(rows, differing)
    for file, problem in differing.items():
        print(one_line(f"{file}: {problem}"))
    for file in missing:
        print(one_line(f"{file}: expected, and not there"))
    if expected is not None:
        print(f"{len(rows) - len(differing)} of {len(rows)} files are as expected")
    return 1 if differing or missing else 0


def read_expected(path: Path) -> Mapping[str, list[Mapping[str, object] | None]] | None:
    """Read what each file is to give; None where the folder does not say."""
    if not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return {row["file"]: row["conversations"] for row in rows}


def read_rows(folder: Path, named: Container[str]) -> Iterator[Row]:
    """Import every file of a folder in the order of their names, notes that are not named aside."""
    importers = find_plugins(IMPORTERS)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != EXPECTED and not path.name.startswith("."):
            row = read_row(SourceFile(path, name), importers)
            if row.told or name in named or path.suffix not in NOTES:
                yield row


def read_row(source: SourceFile, importers: Mapping[str, type[Importer]]) -> Row:
    """Import a file."""
    told, found = "", []
    try:
        for told, record in read_with_formats(source, importers):  # noqa: B007  (the last is told)
            found.append(count(record))
    except InputError as error:
        return Row(source.shown, told, tuple(found), problem=shown_fault(error.faults[0]))
    return Row(source.shown, told, tuple(found))


def shown_fault(fault: Fault) -> str:
    """Say what is wrong, and in which line; the file is named beside it."""
    line = fault.line or fault.file.rpartition(":")[2]
    return f"line {line}: {fault.problem}" if str(line).isdigit() else fault.problem


def count(record: Imported) -> Mapping[str, object] | None:
    """Count what a conversation holds; None for a trial that has none."""
    events = list(record.trajectory.events())
    if not events and (record.skipped is not None or record.failure is not None):
        return None
    said = [e.text for e in events if isinstance(e, AssistantMessage) and e.text.strip()]
    unanswered = [e for e in events if isinstance(e, ErrorEvent) and e.kind == FAILED_CALL]
    results = [e for e in events if isinstance(e, ToolResult)]
    return {
        "users": sum(isinstance(e, UserMessage) for e in events),
        "calls": sum(isinstance(e, ToolCall) for e in events),
        "results": len(results),
        "failed": sum(not e.ok for e in results) + len(unanswered),
        "final_answer": " ".join(said[-1].split()) if said else None,
    }


def differs(row: Row, expected: Mapping[str, list[Mapping[str, object] | None]] | None) -> str:
    """Say how a row differs from what is expected; nothing where it does not."""
    if row.problem:
        return row.problem
    if expected is None:
        return ""
    if row.file not in expected:
        return "nothing is expected of this file"
    for number, (found, wanted) in enumerate(zip_longest(row.conversations, expected[row.file]), 1):
        if (found is None) != (wanted is None):
            return f"conversation {number}: {shown(found)}; expected {shown(wanted)}"
        for name in wanted or ():
            if not agrees(name, found and found[name], wanted and wanted[name]):
                told = f"{name} is {found and found[name]!r}"
                return f"conversation {number}: {told}; expected {wanted and wanted[name]!r}"
    return ""


def shown(conversation: Mapping[str, object] | None) -> str:
    """Say whether there is a conversation."""
    return "there is none" if conversation is None else "there is one"


def agrees(name: str, found: object, wanted: object) -> bool:
    """Say whether a count is the same, or an answer begins as expected."""
    if name == "final_answer" and isinstance(found, str) and isinstance(wanted, str):
        return found.startswith(" ".join(wanted.split()))
    return found == wanted


def print_table(rows: list[Row], differing: Mapping[str, str]) -> None:
    """Print a line a file, conversations apart by semicolons."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "file", "format", *COUNTS, "final answer"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        columns = [[cell(one, name) for one in row.conversations] for name in COUNTS]
        answers = [cell(one, "final_answer") for one in row.conversations]
        mark = "x" if row.file in differing else ""
        texts = [mark, row.file, row.told or "-", *map("; ".join, columns), "; ".join(answers)]
        # Texts of records are no markup.
        table.add_row(*(Text(one_line(text)) for text in texts))
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    console.print(table)


def cell(conversation: Mapping[str, object] | None, name: str) -> str:
    """Show one count, or how an answer begins; a dash where there is none."""
    value = None if conversation is None else conversation[name]
    return "-" if value is None else one_line(str(value), SHOWN_ANSWER)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
