"""Damaged logs, and what can be read of them."""

import pytest
from fakes.stored_trials import stored_trial

from harness.storing.log_pieces import pieces_of
from harness.storing.log_repair import salvage, salvaged_trials
from harness.storing.trial_log import encode_line, read_trials

A, B, C = (encode_line(stored_trial(name)) for name in "abc")
NESTED = encode_line(stored_trial("n", details={"v": 1, "sample_id": {"v": 1}}))


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        (A, ["a"]),
        (A.strip() + B, ["a", "b"]),
        (A[:30] + B, [None, "b"]),
        (A.strip() + B[:-30] + C, ["a", None, "c"]),
        (A.strip() + b" noise " + B[:40], ["a", None]),
        (NESTED, ["n"]),
        (NESTED[:-10] + A, [None, "a"]),
        (b"\0\0\xff\xfe" + A.strip() + b"\xe9", [None, "a", None]),
        (b'{"v":' * 3000 + A, [None]),
        (b'{"v":1}' * 20, [None]),
        (b'{"v":1,"sample_id":"x"}\n', [None]),
        (b"  \n", []),
    ],
)
def test_a_line_is_cut_into_its_trials_and_the_rest(line, pieces):
    found = list(pieces_of(line))
    assert [piece.trial and piece.trial.sample_id for piece in found] == pieces
    whole = b"".join(piece.text for piece in found)
    assert whole.replace(b" ", b"") == line.strip().replace(b" ", b"")


def test_salvaging_keeps_every_trial_and_puts_the_rest_aside_as_it_was(tmp_path):
    log = tmp_path / "trials.jsonl"
    log.write_bytes(A + B[:50] + C + b"\xff\n\n" + B + A[:20])
    assert salvage(tmp_path).pieces == 3
    assert [trial.sample_id for trial in read_trials(tmp_path)] == ["a", "c", "b"]
    assert (tmp_path / "damaged.jsonl").read_bytes() == B[:50] + b"\n\xff\n" + A[:20] + b"\n"
    assert salvage(tmp_path) == (0, 0)


def test_salvaging_parts_trials_on_one_line_and_puts_nothing_aside(tmp_path):
    (tmp_path / "trials.jsonl").write_bytes(A.strip() + B + C)
    assert salvage(tmp_path) == (1, 0)
    assert [trial.sample_id for trial in read_trials(tmp_path)] == ["a", "b", "c"]
    assert not (tmp_path / "damaged.jsonl").exists()


def test_salvaging_leaves_a_whole_log_alone(tmp_path):
    (tmp_path / "trials.jsonl").write_bytes(A + B)
    before = (tmp_path / "trials.jsonl").stat()
    assert salvage(tmp_path) == (0, 0)
    assert (tmp_path / "trials.jsonl").stat() == before
    assert not (tmp_path / "damaged.jsonl").exists()


def test_what_can_be_read_is_read_without_writing(tmp_path):
    log = tmp_path / "trials.jsonl"
    log.write_bytes(A + B[:50] + C + b"\xff\n" + A)
    notes = []
    assert [trial.sample_id for trial in salvaged_trials(tmp_path, notes.append)] == ["c", "a"]
    assert [note.partition("trials.jsonl:")[2][0] for note in notes] == ["2", "3"]
    assert log.read_bytes() == A + B[:50] + C + b"\xff\n" + A
