"""Runs through a proxy that does harm: they come to the same results as a straight run."""

import shutil
from pathlib import Path

import pytest
import yaml
from integration.faults.fault_plans import KINDS, Fault, Listed, Seeded, Storm
from integration.faults.fault_proxy import fault_proxy

import harness
from harness.serving.model_server import scripted_server
from harness.serving.script import read_script

QUICKSTART = Path(__file__).parents[3] / "suites" / "quickstart"
MODELS = ["careful", "hasty"]
ATTEMPTS = 12


@pytest.fixture
def suite_at(tmp_path):
    """Give the quickstart's suite, with the models of a server at an address."""
    folder = tmp_path / "suite"
    shutil.copytree(QUICKSTART, folder)

    def suite_at(url, **request):
        document = yaml.safe_load((folder / "suite.yaml").read_text("utf-8"))
        target = document["target"] | {"base_url": url, "models": MODELS}
        target.pop("script")
        target["request"] |= request
        document |= {"target": target, "retries": {"attempts": ATTEMPTS}, "gates": []}
        return harness.Suite.from_mapping(document, folder)

    return suite_at


@pytest.fixture
async def server():
    async with scripted_server(read_script(QUICKSTART / "models.yaml")) as url:
        yield url


def results(run):
    """Give what a run found of each trial, without what differs from run to run."""
    return {
        (trial.sample_id, trial.model, trial.epoch): (
            trial.status,
            trial.passed,
            {name: grade.score for name, grade in trial.grades.items()},
        )
        for trial in run.trials()
    }


async def driven(suite, tmp_path, name):
    return await harness.run_async(suite, out=tmp_path / name, limit=6)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_run_through_faults_finds_what_a_straight_run_finds(
    suite_at, server, tmp_path, seed, stream
):
    straight = await driven(suite_at(server, stream=stream), tmp_path, "straight")
    plan = Seeded(seed=seed, share=0.3, most=1)
    async with fault_proxy(server, plan) as proxy:
        faulty = await driven(suite_at(proxy.url, stream=stream), tmp_path, "faulty")
    assert results(faulty) == results(straight)
    assert len(results(faulty)) == 6 * len(MODELS)
    assert faulty.summary.complete
    assert proxy.faults.total() - proxy.faults[None] >= 5
    assert proxy.early == []


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_of_fault_is_survived(suite_at, server, tmp_path, kind):
    faults = tuple(Fault(kind=kind, seconds=0.05, at=at) for at in (0.2, 0.9))
    async with fault_proxy(server, Listed(faults)) as proxy:
        run = await harness.run_async(
            suite_at(proxy.url, stream=True), out=tmp_path / "runs", limit=2, models=["careful"]
        )
    assert proxy.faults[kind] == 2
    assert [trial.status for trial in run.trials()] == ["completed"] * 2
    assert run.summary.complete


async def test_a_storm_of_refusals_costs_no_attempt_and_nobody_comes_early(
    suite_at, server, tmp_path
):
    async with fault_proxy(server, Storm(first=3, count=10, retry_after="1")) as proxy:
        run = await driven(suite_at(proxy.url), tmp_path, "runs")
    trials = list(run.trials())
    assert [trial.status for trial in trials] == ["completed"] * len(trials)
    assert {len(trial.attempts) for trial in trials} == {1}
    assert proxy.faults["status"] == 10
    assert proxy.early == []
    assert sum(trial.timing.waiting_seconds for trial in trials) >= 1.0
