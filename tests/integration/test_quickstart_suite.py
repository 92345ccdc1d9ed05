"""The quickstart suite as a new user runs it: real tools, a real database, both models."""

import shutil
from pathlib import Path

import harness

QUICKSTART = Path(__file__).parents[2] / "suites" / "quickstart"


async def trials_of(suite, out, **options):
    run = await harness.run_async(suite / "suite.yaml", out=out, **options)
    return list(run.trials())


def verdicts(trials):
    return {(trial.model, trial.sample_id, trial.epoch): trial.passed for trial in trials}


def failing(trials):
    return {
        trial.sample_id: [name for name, grade in trial.grades.items() if not grade.passed]
        for trial in trials
        if not trial.passed
    }


async def test_careful_passes_everything_and_hasty_fails_a_third_in_all_its_ways(tmp_path):
    trials = await trials_of(QUICKSTART, tmp_path)
    careful, hasty = (
        [trial for trial in trials if trial.model == model]
        for model in ("scripted/careful", "scripted/hasty")
    )
    assert (len(careful), len(hasty), failing(careful)) == (24, 24, {})
    failures = failing(hasty)
    assert len(failures) == 9
    assert {name for names in failures.values() for name in names} == {
        "surfaced_id",
        "right_answer",
        "plain_text",
    }


async def test_epochs_differ_and_verdicts_do_not_depend_on_how_many_run_at_once(tmp_path):
    many = await trials_of(QUICKSTART, tmp_path, epochs=3, concurrency=20)
    few = await trials_of(QUICKSTART, tmp_path, epochs=3, concurrency=2)
    assert verdicts(many) == verdicts(few)
    epochs = [
        tuple(t.passed for t in sorted(many, key=lambda t: t.sample_id) if t.epoch == epoch)
        for epoch in range(3)
    ]
    assert len(set(epochs)) == 3


async def test_a_database_that_trials_shared_would_be_seen(tmp_path):
    shared = tmp_path / "shared"
    shutil.copytree(QUICKSTART, shared, ignore=shutil.ignore_patterns("__pycache__"))
    code = (shared / "tools.py").read_text(encoding="utf-8")
    assert code.count('scope="trial"') == 1
    (shared / "tools.py").write_text(code.replace('scope="trial"', 'scope="run"'), encoding="utf-8")
    trials = await trials_of(shared, tmp_path, models=["scripted/careful"])
    assert "right_answer" in {name for names in failing(trials).values() for name in names}
