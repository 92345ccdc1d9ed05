"""What a Python agent raises, from its file to the stored trial."""

import pytest

import harness

AGENT = """
import harness

def down(sample):
    raise harness.TargetError("the shop's API is down")

def typo(sample):
    raise harness.TargetError("down", code="conection_lost")

class Busy(Exception):
    status_code = 503

def bug(sample):
    raise Busy("an exception of its own")
"""


async def trial_of(folder, name):
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (folder / "suite.yaml").write_text(
        f"name: outages\nsamples: [{{id: s1, input: Hi, ground_truth: x}}]\n"
        f"target: {{kind: python, agent: 'agent.py:{name}'}}\n"
        "graders: {says: {kind: tool, function: contains}}\n"
        "retries: {attempts: 2}\n",
        encoding="utf-8",
    )
    run = await harness.run_async(folder / "suite.yaml", out=folder / "runs")
    (trial,) = run.trials()
    return trial


async def test_an_outage_is_retried_and_ends_as_a_target_error(tmp_path):
    trial = await trial_of(tmp_path, "down")
    assert (trial.status, trial.passed) == ("target_error", None)
    assert len(trial.attempts) == 2
    assert trial.error.code == "connection_lost"
    assert trial.error.message == "the shop's API is down"


@pytest.mark.parametrize(
    ("name", "told"),
    [("typo", "unknown code 'conection_lost'; there are "), ("bug", "an exception of its own")],
)
async def test_a_bug_of_the_agent_is_its_failure_and_not_tried_again(tmp_path, name, told):
    trial = await trial_of(tmp_path, name)
    assert (trial.status, trial.passed) == ("agent_failure", False)
    assert len(trial.attempts) == 1
    assert trial.error.code == "agent_crash"
    assert told in trial.error.message
    assert "(agent.py:" in trial.error.message
