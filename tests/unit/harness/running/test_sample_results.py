"""What became of every sample on every model."""

from fakes.explained_runs import store_run
from fakes.stored_trials import stored_trial

from harness.running.sample_results import sample_results
from harness.types.explanations import Place
from harness.types.grades import Grade
from harness.types.trials import Failure


def failing(sample_id="a", *, epoch=0, evidence="no", **fields):
    grades = {"g": Grade(score=0.0, passed=False, evidence=evidence)}
    return stored_trial(sample_id, passed=False, epoch=epoch, grades=grades, **fields)


def broken(sample_id="a", *, epoch=0):
    error = Failure(code="server_error", message="500")
    return stored_trial(sample_id, passed=None, epoch=epoch, status="target_error", error=error)


def results_of(tmp_path, *trials, places=None, **options):
    folder = store_run(tmp_path / "run", trials)
    return sample_results(folder, places or {}, **options)


def test_epochs_are_counted_by_how_they_ended(tmp_path):
    ungraded = stored_trial(passed=None, epoch=3)
    (one,) = results_of(tmp_path, stored_trial(), failing(epoch=1), broken(epoch=2), ungraded)
    assert (one.passed, one.failed, one.errored, one.ungraded, one.trials) == (1, 1, 1, 1, 4)
    assert one.seconds == 2.0


def test_the_failures_of_the_first_epochs_are_kept_whatever_ended_first(tmp_path):
    trials = [failing(epoch=epoch, evidence=f"no {epoch}") for epoch in reversed(range(9))]
    (one,) = results_of(tmp_path, *trials)
    assert [failed.evidence for failed in one.failures] == [f"no {n}" for n in range(5)]
    assert one.failed == 9


def test_a_trial_that_was_made_again_counts_once(tmp_path):
    (one,) = results_of(tmp_path, broken(), stored_trial())
    assert (one.passed, one.errored) == (1, 0)


def test_samples_come_in_the_order_of_the_dataset_and_unknown_ones_last(tmp_path):
    places = {"b": Place("d", 1), "a": Place("d", 2)}
    found = results_of(tmp_path, *map(stored_trial, "zxab"), places=places)
    assert [one.sample_id for one in found] == [*"baxz"]


def test_graders_that_decide_nothing_are_no_reason(tmp_path):
    grades = {
        "seen": Grade(score=0.0, passed=False, evidence="observed"),
        "g": Grade(score=0.0, passed=False, evidence="decides"),
    }
    trial = stored_trial(passed=False, grades=grades)
    (one,) = results_of(tmp_path, trial, observed={"seen"})
    assert one.failures[0].evidence == "decides"


def test_a_long_evidence_is_cut(tmp_path):
    (one,) = results_of(tmp_path, failing(evidence="x" * 9_999))
    assert len(one.failures[0].evidence) == 2_000
