"""Whether outcomes are those of the trials that they stand beside."""

import json

import pytest
from fakes.explained_runs import store_run
from fakes.stored_trials import stored_trial

from harness.storing.outcome_seals import is_sealed, outcomes_belong, sealed


@pytest.fixture
def run(tmp_path):
    """Store a run of three trials."""
    return store_run(tmp_path / "run", [stored_trial(name, text=name) for name in "abc"])


def lines_of(run, name):
    return (run / name).read_bytes().splitlines(keepends=True)


def test_a_sealed_outcome_is_still_json_and_is_known_to_be_as_it_was():
    line = sealed(b'{"sample_id":"a","passed":true}', b" {} \n")
    assert list(json.loads(line)) == ["sample_id", "passed", "seal"]
    assert line == sealed(b'{"sample_id":"a","passed":true}', b"{}")
    assert is_sealed(line[:-1])
    for place in range(len(line) - 1):
        changed = bytes([line[place] ^ 1])
        assert not is_sealed(line[:place] + changed + line[place + 1 : -1])


@pytest.mark.parametrize("text", [b"", b"{}", b'{"a":1}', b'"}', b"\xff" * 40])
def test_what_has_no_seal_is_not_sealed(text):
    assert not is_sealed(text)


def test_the_outcomes_of_a_run_belong_to_its_trials(run):
    assert outcomes_belong(run)
    trials = lines_of(run, "trials.jsonl")
    (run / "trials.jsonl").write_bytes(b"\n" + b" \n".join(trials).rstrip())
    assert outcomes_belong(run), "blanks say nothing"


@pytest.mark.parametrize("name", ["trials.jsonl", "outcomes.jsonl"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda lines: lines[::-1], id="moved"),
        pytest.param(lambda lines: lines[:-1], id="missing"),
        pytest.param(lambda lines: [*lines, lines[0]], id="doubled"),
        pytest.param(lambda lines: [*lines[:-1], lines[0]], id="replaced"),
        pytest.param(lambda lines: [lines[0].replace(b"true", b"false"), *lines[1:]], id="edited"),
        pytest.param(lambda lines: [*lines[:-1], lines[-1][:-9]], id="torn"),
    ],
)
def test_outcomes_do_not_belong_where_either_file_was_changed(run, name, change):
    (run / name).write_bytes(b"".join(change(lines_of(run, name))))
    assert not outcomes_belong(run)


def test_lines_that_are_moved_alike_still_belong_to_each_other(run):
    for name in ("trials.jsonl", "outcomes.jsonl"):
        (run / name).write_bytes(b"".join(lines_of(run, name)[::-1]))
    assert outcomes_belong(run)


def test_outcomes_do_not_belong_where_a_file_is_missing(run):
    (run / "outcomes.jsonl").unlink()
    assert not outcomes_belong(run)
