"""Standard output and error: without secrets, and never flooded."""

import io
import sys

import pytest

from harness.system.memory_pressure import go_first_without_memory
from harness.system.shown_streams import (
    BoundedStream,
    RedactingStream,
    bounded_streams,
    hide_on_streams,
)

KEY = "canary-9f3a"


def _stream(encoding="utf-8"):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)


def test_values_of_secrets_are_not_shown(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", KEY)
    behind = _stream()
    stream = RedactingStream(behind)
    stream.write(f"x {KEY} y\n")
    assert stream.write(KEY) == len(KEY)
    assert behind.buffer.getvalue() == b"x [redacted] y\n[redacted]"


def test_values_that_a_suite_names_are_hidden_from_then_on(monkeypatch):
    behind = _stream()
    monkeypatch.setattr(sys, "stdout", RedactingStream(behind))
    hide_on_streams(["account-77"])
    sys.stdout.write("of account-77")
    assert behind.buffer.getvalue() == b"of [redacted]"


def test_what_cannot_be_encoded_is_shown_as_an_escape():
    behind = _stream("ascii")
    stream = RedactingStream(behind)
    stream.write("é日\ud800")
    assert behind.buffer.getvalue() == b"\\xe9\\u65e5\\ud800"


def test_so_much_is_printed_and_the_rest_is_counted():
    behind = io.StringIO()
    stream = BoundedStream(behind, 5)
    assert [stream.write(text) for text in ("abc", "defg", "h")] == [3, 4, 1]
    assert (behind.getvalue(), stream.dropped) == ("abcde", 3)
    assert stream.writable()
    assert not stream.isatty()


def test_a_bounded_stream_answers_as_the_one_behind():
    behind = _stream()
    stream = BoundedStream(behind, 5)
    assert (stream.encoding, stream.buffer) == ("utf-8", behind.buffer)
    with pytest.raises(AttributeError):
        _ = stream.no_such_thing


def test_what_was_not_shown_is_told_at_the_end(capsys):
    with bounded_streams(10):
        sys.stdout.write("a" * 15)
        sys.stderr.write("b" * 5 + "\n")
    sys.stdout.write("after\n")
    out, err = capsys.readouterr()
    assert out == "a" * 10 + "after\n"
    assert err == "bbbbb\nthe suite's own code printed 5 further characters, not shown\n"


def test_where_nothing_was_held_back_nothing_is_said(capsys):
    with bounded_streams():
        sys.stdout.write("a")
    assert capsys.readouterr() == ("a", "")


def test_a_process_may_offer_to_go_first(monkeypatch, tmp_path):
    place = tmp_path / "oom_score_adj"
    monkeypatch.setattr("harness.system.memory_pressure._OOM_SCORE", place)
    go_first_without_memory()
    assert place.read_text("ascii") == "1000"
    monkeypatch.setattr("harness.system.memory_pressure._OOM_SCORE", tmp_path)
    go_first_without_memory()
