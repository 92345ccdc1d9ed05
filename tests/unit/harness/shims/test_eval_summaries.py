from harness.shims.eval_kinds import ErrorCategory
from harness.shims.eval_models import SampleResult, Timing, Usage
from harness.shims.eval_summaries import Error, ModelRun, ModelSummary, Summary, TimingStats

STATS = TimingStats(mean_total=1, mean_target=1, p50_total=1, p95_total=1)


def test_a_summary_can_be_made_and_dumped():
    model = ModelSummary(
        model="m", n_total=1, n_attempted=1, reward=1, per_metric={}, usage=Usage(), timing=STATS
    )
    result = SampleResult(sample_id=1, timing=Timing(total=1, target=1))
    run = ModelRun(model="m", results=[result], summary=model)
    assert Summary(suite="s", models=[model]).model_dump()["models"][0]["reward"] == 1.0
    assert run.results[0].grades == {}


def test_an_error_names_its_category_by_word():
    error = Error(category="reward", exception_type="ValueError", message="m")
    assert error.category is ErrorCategory.REWARD
    assert error.model_dump(mode="json")["category"] == "reward"
