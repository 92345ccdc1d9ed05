"""What datasets of letta-evals become, and how its gates and rewards make numbers.

Where Regrade differs, the row or the test says how.
"""

import json

import pytest
from fakes.eval_suites import LettaEvalsSuite, talk

import harness
from harness.documents.findings import BadReference
from harness.loading.hub_urls import hub_file
from harness.measuring.intervals import quantile
from harness.system.numbers import compares
from harness.types.trajectories import Usage

ASCII = "{kind: tool, function: ascii_printable_only}"
SCORES = """
from letta_evals import grader
from letta_evals.models import GradeResult

@grader
def said(sample, submission):
    if submission == "broken":
        raise ValueError("no price")
    return GradeResult(score=float(submission))
"""
SAID = "{kind: tool, function: 'scores.py:said'}"


@pytest.fixture
def suite(tmp_path):
    suite = LettaEvalsSuite(tmp_path)
    suite.file("scores.py", SCORES)
    return suite


def csv(suite, text):
    suite.file("rows.csv", text)
    suite.write(dataset="rows.csv")


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('["a", "b"]', ("a", "b")),
        ('  ["a", "b"]  ', ("a", "b")),
        # letta-evals refuses a cell that only looks like an array; it is a text here.
        ("[not, json]", "[not, json]"),
        ("[0-9]", "[0-9]"),
        ("[not closed", "[not closed"),
        ('{"a": 1}', '{"a": 1}'),
        # pandas makes other numbers of these: 7, 1.2345678901234568e+18, and null.
        ("007", "007"),
        ("1234567890123456789", "1234567890123456789"),
        ("None", "None"),
    ],
)
def test_a_cell_is_a_list_where_it_is_a_json_array_and_else_its_text(suite, cell, value):
    quoted = '"' + cell.replace('"', '""') + '"'
    prompts = '"[""x"", ""y""]"' if isinstance(value, tuple) else "x"
    csv(suite, f"input,ground_truth\n{prompts},{quoted}\n")
    (sample,) = suite.samples()
    assert sample.ground_truth == value


@pytest.mark.parametrize(
    ("cell", "problem"),
    [("[1, 2]", "JSON that is no object"), ("{bad json", "JSON")],
)
def test_a_cell_of_a_mapping_is_a_json_object(suite, cell, problem):
    csv(suite, f'input,agent_args\nx,"{cell}"\n')
    (fault,) = suite.faults()
    assert fault.startswith("rows.csv:2")
    assert "agent_args" in fault
    assert problem in fault


def test_a_blank_cell_of_a_mapping_is_none(suite):
    csv(suite, "input,agent_args\nx,\n")
    assert suite.samples()[0].agent_args == {}


@pytest.mark.parametrize(
    ("rows", "ids"),
    [
        ([{"sample_id": 101}, {"sample_id": 205}], ["101", "205"]),
        ([{"sample_id": "sample-a"}], ["sample-a"]),
        ([{"id": "row-a"}], ["row-a"]),
        ([{"sample_id": 7, "id": 8}], ["7"]),
        ([{}, {}], ["0", "1"]),
    ],
)
def test_ids_are_kept_and_made_up_from_the_index(suite, rows, ids):
    suite.rows([{"input": "x", **row} for row in rows])
    assert [sample.id for sample in suite.samples()] == ids


def test_functions_see_numeric_ids_as_numbers(suite):
    source = "from letta_evals import grader\n@grader\ndef check(sample, submission):\n"
    suite.file("g.py", f"{source}    return float(sample.id == 101)\n")
    suite.rows([{"input": "x", "sample_id": 101}])
    suite.write({"main": "{kind: tool, function: 'g.py:check'}"})
    run = harness.grade({"101": talk(["yes"])}, suite.path, out=suite.folder / "runs")
    assert run.summary.models["default"].passed == 1


def test_max_samples_takes_the_first_rows(suite):
    suite.rows([{"input": f"question {n}"} for n in range(10)])
    suite.drive("def answer(sample):\n    return sample.id\n")
    suite.write(more="max_samples: 3")
    assert sorted(trial.sample_id for trial in suite.run().trials()) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"input": ["a", "b"], "ground_truth": ["c"]}, "ground_truth"),
        ({"input": "a", "ground_truth": ["c"]}, "ground_truth"),
        ({"input": "a", "rubric": "r", "rubric_path": "r.txt"}, "rubric"),
        ({"input": None}, "input"),
        ({"ground_truth": "c"}, "input"),
    ],
)
def test_a_row_whose_fields_do_not_fit_is_a_fault_with_its_line(suite, row, problem):
    suite.file("r.txt", "Is it right?")
    suite.rows([{"input": "fine"}, row])
    (fault,) = suite.faults()
    assert fault.startswith("rows.jsonl:2")
    assert problem in fault


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "rows.txt",
            "input\nx\n",
            'suite.yaml:2:10: dataset: "rows.txt" is no dataset by its name',
        ),
        ("missing.csv", None, "missing.csv"),
        ("rows.csv", "question,ground_truth\nx,y\n", "input"),
        ("rows.csv", "input\n", "rows.csv: the dataset holds no samples"),
        ("rows.csv", "", "rows.csv"),
    ],
)
def test_a_dataset_that_cannot_be_read_is_a_fault(suite, name, text, problem):
    if text is not None:
        suite.file(name, text)
    suite.write(dataset=name)
    assert any(problem in fault for fault in suite.faults()), suite.faults()


@pytest.mark.parametrize(
    ("op", "value", "bound", "met"),
    [
        ("gt", 0.5, 0.5, False),
        ("gte", 0.5, 0.5, True),
        ("lt", 0.5, 0.5, False),
        ("lte", 0.5, 0.5, True),
        ("eq", 0.5, 0.5, True),
        ("eq", 0.6, 0.5, False),
    ],
)
def test_a_gate_compares(suite, op, value, bound, met):
    assert compares(value, op, bound) is met
    gate = f"gate: {{kind: simple, metric_key: main, op: {op}, value: {bound}}}"
    suite.write({"main": SAID}, more=gate)
    assert suite.grade(talk([str(value)])).passed is met


def weighted(suite, weights):
    gate = "{kind: weighted_average, aggregation: avg_score, op: gte, value: 0.7, "
    suite.write({"a": SAID, "b": ASCII}, more=f"gate: {gate}weights: {weights}}}")


def test_weights_are_shares_of_their_sum(suite):
    weighted(suite, "{a: 3, b: 1}")
    (gate,) = suite.grade(talk(["0.5"])).summary.gates
    assert gate.value == pytest.approx(0.75 * 0.5 + 0.25 * 1.0)


@pytest.mark.parametrize("weights", ["{a: 0, b: 0}", "{a: -1, b: 3}", "{}"])
def test_weights_that_cannot_be_normalised_are_a_fault(suite, weights):
    weighted(suite, weights)
    assert any("gate.weights" in fault for fault in suite.faults())


def test_usage_sums_what_is_known():
    """letta-evals counts 0 tokens where none are known; here they are not known."""
    one = Usage(input_tokens=100, output_tokens=50, cost_usd=0.01)
    two = Usage(input_tokens=200, output_tokens=100, cost_usd=0.02)
    both = one + two
    assert (both.input_tokens, both.output_tokens) == (300, 150)
    assert both.cost_usd == pytest.approx(0.03)
    assert Usage(cost_usd=None).cost_usd is None
    assert sum([], Usage()) == Usage(input_tokens=None, output_tokens=None, cost_usd=None)


def test_times_are_told_by_median_and_90th_percentile():
    """letta-evals takes the upper of two neighbours (p95 of 1..100 is 96); here lies between."""
    values = [float(second) for second in range(1, 101)]
    assert quantile(values, 0.5) == pytest.approx(50.5)
    assert quantile(values, 0.95) == pytest.approx(95.05)


@pytest.mark.parametrize(
    ("answers", "mean", "trials", "errors"),
    [
        (["0.2", "1.0"], 0.6, 2, 0),
        # letta-evals leaves an errored sample out and tells 1.0; here it counts as a failure.
        (["broken", "1.0"], 0.5, 2, 1),
    ],
)
def test_a_summary_has_the_mean_and_counts_errors_as_failures(suite, answers, mean, trials, errors):
    suite.rows([{"input": "a"}, {"input": "b"}])
    suite.write({"main": SAID})
    run = suite.grade(*(talk([text]) for text in answers))
    model = run.summary.models["default"]
    assert model.graders["main"].mean == pytest.approx(mean)
    assert (model.trials, model.errors) == (trials, errors)
    assert model.pass_rate.value == pytest.approx(0.5)
    assert run.passed is (errors == 0)


def test_nothing_graded_has_no_mean(suite):
    """letta-evals tells 0.0."""
    run = harness.grade({}, suite.path, out=suite.folder / "runs")
    assert run.summary.passed is False


def test_several_runs_are_epochs_whose_mean_has_an_interval(suite):
    """letta-evals tells a standard deviation over runs, here .70711."""
    suite.drive("def answer(sample, epoch):\n    return '1.0' if epoch == 0 else '0.0'\n")
    suite.write({"main": SAID}, more="num_runs: 2")
    run = suite.run()
    assert [trial.epoch for trial in run.trials()] == [0, 1]
    assert run.summary.models["m"].graders["main"].mean == pytest.approx(0.5)


@pytest.mark.parametrize("runs", [0, -1])
def test_no_runs_at_all_are_a_fault(suite, runs):
    suite.write(more=f"num_runs: {runs}")
    assert any("num_runs" in fault for fault in suite.faults())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("datasets/rows.jsonl", None),
        ("https://huggingface.co/datasets/org/repo", ("org/repo", None, None)),
        ("https://HuggingFace.co/datasets/org/repo/", ("org/repo", None, None)),
        (
            "https://huggingface.co/datasets/org/repo/resolve/main/a/rows.csv",
            ("org/repo", "main", "a/rows.csv"),
        ),
    ],
)
def test_a_url_of_the_hub_names_a_dataset_and_a_path_none(text, found):
    file = hub_file(text)
    assert (file and (file.repository, file.revision or None, file.path or None)) == found


@pytest.mark.parametrize(
    "text",
    [
        "https://huggingface.co.example.org/datasets/org/repo",
        "https://nothuggingface.co/datasets/org/repo",
        "https://huggingface.co/org/model",
        "https://huggingface.co/datasets/org/repo/resolve/main",
    ],
)
def test_any_other_url_is_refused(text):
    """letta-evals takes a look-alike host and the URL of a model for the name of a file."""
    with pytest.raises(BadReference):
        hub_file(text)


def test_models_whose_names_look_alike_stay_apart(suite):
    """letta-evals writes `a/b` and `a-b` to one file; here all trials of a run are in one log."""
    agent = "def answer(sample, model):\n    return '1.0' if '/' in model else '0.0'\n"
    suite.drive(agent, models="[a/b, a-b]")
    suite.write({"main": SAID}, more="num_runs: 3")
    run = suite.run()
    rates = {name: model.pass_rate.value for name, model in run.summary.models.items()}
    assert rates == {"a/b": 1.0, "a-b": 0.0}
    assert len((run.folder / "trials.jsonl").read_text("utf-8").splitlines()) == 6
    stored = json.loads((run.folder / "summary.json").read_text("utf-8"))
    assert stored["models"].keys() == rates.keys()


def test_a_folder_without_a_run_is_said_to_be_none(suite):
    with pytest.raises(harness.InputError, match="nothing-here: no run"):
        harness.grade(suite.folder / "nothing-here", suite.path, out=suite.folder / "runs")
