"""Tables of trials as files: CSV, Parquet, and conversations as Chat Completions messages."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from harness.messages.chat_writing import write_messages
from harness.reports.trial_rows import all_columns, trial_row
from harness.types.errors import Fault, InputError
from harness.types.grades import RECORDED, Grade
from harness.types.trials import Trial

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_BATCH = 1_000
MESSAGES = "messages"
"""The column of a Parquet table that holds the conversation, as JSON text."""


def write_csv(path: Path, trials: Iterable[Trial], graders: tuple[str, ...]) -> Counter[str]:
    """Write a row a trial as CSV (RFC 4180, UTF-8).

    A text that a spreadsheet would take for a formula gets an apostrophe before it: conversations
    are no code. Returns what was left out, by kind: nothing.
    """
    columns = all_columns(graders)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([_cell(name) for name in columns])
        for trial in trials:
            row = trial_row(trial, graders)
            writer.writerow([_cell(row[name]) for name in columns])
    return Counter()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(_FORMULAS):
        return f"'{value}"
    return value


def write_parquet(path: Path, trials: Iterable[Trial], graders: tuple[str, ...]) -> Counter[str]:
    """Write a row a trial as Parquet, with the conversation in a column of its own.

    Returns the events that have no form in messages, by kind.

    Raises:
        InputError: pyarrow is not installed.
    """
    try:
        # Only those who write such files need the package, and it is large.
        from pyarrow import ArrowException, Table, parquet, schema, type_for_alias  # noqa: PLC0415
    except ImportError as error:
        problem = "a Parquet file is written by pyarrow, which is not installed"
        allowed = "pip install 'regrade[parquet]'"
        raise InputError([Fault(file="--to parquet", problem=problem, allowed=allowed)]) from error
    columns = {**all_columns(graders), MESSAGES: str}
    fields = schema([(name, type_for_alias(_ALIASES[kind])) for name, kind in columns.items()])
    left_out: Counter[str] = Counter()
    try:
        with parquet.ParquetWriter(path, fields) as writer:
            for rows in _batches(_rows_with_messages(trials, graders, left_out)):
                writer.write_table(Table.from_pylist(rows, schema=fields))
    except (ArrowException, OverflowError) as error:
        problem = f"a value does not fit into a Parquet table: {error}"
        raise InputError([Fault(file="--to parquet", problem=problem)]) from error
    return left_out


_ALIASES = {str: "string", int: "int64", float: "double", bool: "bool"}


def _rows_with_messages(
    trials: Iterable[Trial], graders: tuple[str, ...], left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    for trial in trials:
        written = write_messages(trial.trajectory)
        left_out.update(written.left_out)
        text = msgspec.json.encode(written.messages).decode()
        yield {**trial_row(trial, graders), MESSAGES: text}


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch


def write_chat(path: Path, trials: Iterable[Trial], _graders: tuple[str, ...]) -> Counter[str]:
    """Write a conversation a line as Chat Completions messages, with its verdict and grades.

    What the record of another tool said of its own result stands in `outcomes`, by name. Returns
    what has no form there, by kind: events, and the end state of fixtures.
    """
    left_out: Counter[str] = Counter()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for trial in trials:
            written = write_messages(trial.trajectory)
            left_out.update(written.left_out)
            left_out.update({"snapshot": len(trial.snapshots)} if trial.snapshots else {})
            line = {
                "id": trial.sample_id,
                "model": trial.model,
                "epoch": trial.epoch,
                "status": trial.status,
                "passed": trial.passed,
                "score": trial.score,
                **_beside(trial),
                MESSAGES: written.messages,
            }
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    return left_out


def _beside(trial: Trial) -> dict[str, Any]:
    """Return what is told of a conversation where there is anything to tell."""
    usage = trial.usage
    told = {
        "error": trial.error and {"code": trial.error.code, "message": trial.error.message},
        "usage": _known(
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.output_tokens,
            cost=usage.cost_usd,
        ),
        "outcomes": _known(**dict(_recorded(trial))),
        "grades": {name: _verdict(grade) for name, grade in _own_grades(trial)},
    }
    return {name: value for name, value in told.items() if value}


def _known(**numbers: Any) -> dict[str, Any]:
    return {name: value for name, value in numbers.items() if value is not None}


def _recorded(trial: Trial) -> Iterator[tuple[str, Any]]:
    for name, grade in trial.grades.items():
        if name.startswith(RECORDED):
            yield name.removeprefix(RECORDED), grade.details.get("value")


def _own_grades(trial: Trial) -> Iterator[tuple[str, Grade]]:
    return (pair for pair in trial.grades.items() if not pair[0].startswith(RECORDED))


def _verdict(grade: Grade) -> dict[str, Any]:
    return {
        "status": grade.status,
        "passed": grade.passed,
        "score": grade.score,
        "evidence": grade.evidence,
    }
