"""Samples of several sessions, and agents that tell their state, by agents of our own protocol."""

from pathlib import Path

import pytest
from fakes.agents import FakeTarget
from fakes.suites import fake_suite

from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.storing.trial_log import read_trials
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage
from harness.types.samples import Sample


class Rememberer:
    """Keeps notes over its sessions, and forgets what was said."""

    def __init__(self, broken=""):
        self.notes, self.said, self.broken = [], [], broken

    async def send(self, text, record):
        if text == "fail":
            raise TargetError("gave up", code="max_steps")
        self.notes.append(text)
        self.said.append(text)
        record(AssistantMessage(text=f"ok {len(self.said)}"))

    async def start_session(self):
        self.said = []

    async def final_state(self):
        if self.broken:
            raise TargetError("the state is gone", code=self.broken)
        return {"blocks": [{"label": "notes", "value": ",".join(self.notes)}]}

    async def close(self):
        pass


class Remembering(FakeTarget):
    def __init__(self, make=Rememberer):
        super().__init__(lambda a, t: "ok")
        self.make = make

    async def open(self, context):
        return self.make()


async def only_trial(target, sample, tmp_path: Path):
    result = await execute(fake_suite(target, samples=(sample,)), RunOptions(out=tmp_path))
    (trial,) = read_trials(result.folder)
    return trial


SESSIONS = Sample(id="s", input=("a", "b", "c"), sessions=(2, 1))


async def test_a_further_session_is_begun_and_said_before_its_first_prompt(tmp_path):
    trial = await only_trial(Remembering(), SESSIONS, tmp_path)
    said = [
        [getattr(e, "kind", e.__class__.__name__) for e in t.events] for t in trial.trajectory.turns
    ]
    turn = ["UserMessage", "AssistantMessage"]
    assert said == [turn, turn, ["session_start", *turn]]
    answers = [turn.events[-1].text for turn in trial.trajectory.turns]
    assert answers == ["ok 1", "ok 2", "ok 1"]


async def test_the_final_state_is_stored_as_a_snapshot(tmp_path):
    trial = await only_trial(Remembering(), SESSIONS, tmp_path)
    assert trial.snapshots == {"agent_state": {"blocks": [{"label": "notes", "value": "a,b,c"}]}}


async def test_an_agent_without_sessions_of_its_own_cannot_begin_another(tmp_path):
    trial = await only_trial(FakeTarget(lambda a, t: "ok"), SESSIONS, tmp_path)
    assert (trial.status, trial.error.code) == ("target_error", "bad_request")


async def test_the_state_of_an_agent_that_failed_is_kept_for_show(tmp_path):
    sample = Sample(id="s", input=("a", "fail"))
    trial = await only_trial(Remembering(), sample, tmp_path)
    assert trial.status == "agent_failure"
    assert trial.snapshots["agent_state"]["blocks"][0]["value"] == "a"


@pytest.mark.parametrize(("text", "status"), [("a", "target_error"), ("fail", "agent_failure")])
async def test_a_state_that_cannot_be_read_is_an_outage_unless_the_agent_failed(
    tmp_path, text, status
):
    target = Remembering(lambda: Rememberer(broken="not_found"))
    trial = await only_trial(target, Sample(id="s", input=text), tmp_path)
    assert (trial.status, trial.snapshots) == (status, {})
