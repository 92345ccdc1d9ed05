"""Runs that meet faults and are killed lose nothing; and what would be lost would be seen."""

import json

import pytest
from integration.faults.fault_plans import Asked
from integration.faults.fault_proxy import FaultProxy, Passed
from integration.faults.soaking import Soak, judged, key_of_trial, result_of, soak_all


async def test_runs_that_are_killed_amid_faults_end_as_a_straight_run(tmp_path):
    found = await soak_all(range(4), tmp_path, at_once=2)
    assert [one for one in found if not one.is_well] == []
    assert sum(one.faults for one in found) >= 4
    assert sum(one.ended for one in found) >= 2


def trial(number, **fields):
    made = {"sample_id": f"train-{number}", "model": "careful", "epoch": 0, "status": "completed"}
    return {**made, "passed": True, "score": 1.0, "grades": {"g": {"score": 1.0}}, **fields}


@pytest.fixture
def soak(tmp_path):
    """Give a folder with a log of trials that a test writes."""
    soak = Soak(tmp_path / "soak", "http://127.0.0.1:1/v1", FaultProxy("http://h/v1", None))
    (soak.folder / "runs" / "r").mkdir(parents=True)

    def write(*trials, end="\n"):
        text = "\n".join(map(json.dumps, trials)) + end
        (soak.folder / "runs" / "r" / "trials.jsonl").write_text(text, encoding="utf-8")

    soak.write = write
    return soak


STRAIGHT = {key_of_trial(trial(n)): result_of(trial(n)) for n in (1, 2)}


@pytest.mark.parametrize(
    ("trials", "lost", "again", "differing"),
    [
        ((trial(1), trial(2)), 0, 0, 0),
        ((trial(2), trial(1)), 0, 0, 0),
        ((trial(1),), 1, 0, 0),
        ((trial(1), trial(2), trial(1)), 0, 1, 0),
        ((trial(1, status="interrupted"), trial(2), trial(1)), 0, 0, 0),
        ((trial(1), trial(2, status="interrupted")), 1, 0, 0),
        ((trial(1), trial(2, score=0.5)), 0, 0, 1),
        ((trial(1), trial(2, passed=False)), 0, 0, 1),
        ((trial(1), trial(2, grades={"g": {"score": 0.0}})), 0, 0, 1),
        ((trial(1), trial(2), trial(3)), 0, 0, 1),
    ],
)
def test_what_was_harmed_is_seen(soak, trials, lost, again, differing):
    soak.write(*trials)
    found = judged(0, soak, STRAIGHT)
    assert (len(found.lost), len(found.again), len(found.differing)) == (lost, again, differing)
    assert found.is_well is not any((lost, again, differing))


def test_a_stored_trial_that_is_asked_about_again_is_seen_although_nothing_is_stored(soak):
    soak.write(trial(1), trial(2))
    soak.note()
    first, second = soak.talk_of_trial(trial(1)), ("careful", "something else")
    for talk in (first, second):
        asked = Asked(key="k", nth=0, number=0, talk=talk)
        soak.proxy.passed.append(Passed(asked, None, reached=True, came=0.0))
    soak.note()
    assert judged(0, soak, STRAIGHT).again == {key_of_trial(trial(1))}


def test_a_torn_line_is_no_trial(soak):
    soak.write(trial(1), trial(2), end="\n")
    soak.tear(0.5)
    assert [one["sample_id"] for one in soak.lines()] == ["train-1", "train-2"]
    assert not soak.log.read_bytes().endswith(b"\n")
