"""Suites of letta-evals, as they are, become native ones; faults show the user's own keys."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.loading.datasets import open_dataset
from harness.loading.selections import Selection
from harness.loading.suite_files import load_suite
from harness.loading.validation import find_faults, inspect_suite
from harness.types.code import CustomGrader
from harness.types.suites import Retries

DATA = Path(__file__).parents[3] / "data" / "letta_evals"
LETTA = "target: {kind: letta_agent, agent_id: agent-1, base_url: http://localhost:8283}"


@pytest.fixture(autouse=True)
def with_a_key(monkeypatch):
    """Judges and servers without a key are a fault of their own."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")
    monkeypatch.setenv("LETTA_API_KEY", "key-of-a-test")


def load(name):
    return load_suite(DATA / name / "suite.yaml")


@pytest.mark.parametrize("name", ["flat", "kinds", "newest"])
def test_suites_of_every_time_have_no_fault(name):
    assert find_faults(DATA / name / "suite.yaml") == ()


def test_a_suite_with_a_flat_gate_is_read():
    suite = load("flat")
    assert suite.target is not None
    assert (suite.target.kind, suite.target.models) == ("letta", ("openai/gpt-4.1-mini",))
    assert (suite.epochs, suite.max_samples, suite.retries) == (2, None, Retries(attempts=3))
    assert (suite.limits.trial_seconds, suite.limits.turn_seconds) == (45.5, None)
    place, tone = suite.graders
    assert (place.display_name, place.role) == ("Named the place", "required")
    assert (tone.kind, tone.role, tone.grader.rubric_vars) == ("model_judge", "observed", ("mood",))
    assert "sk-courier-0123456789" in suite.secrets
    assert "sk-courier" not in repr(replace(suite, text="", target=None))
    assert [note.path for note in suite.notes] == ["gate.value", "max_samples"]


def test_cells_of_csv_are_stripped_and_lists_where_they_are_json():
    samples = list(open_dataset(load("flat")).samples())
    assert [(sample.input, sample.ground_truth) for sample in samples] == [
        ("Where is parcel 7?", "Oslo"),
        (("Hello", "Where is parcel 8?"), ("Hello", "[0-9]+")),
        ("Which codes are valid?", "[a-z]+"),
    ]
    assert [sample.rubric_vars["mood"] for sample in samples] == ["calm", "brisk", "calm"]


def test_a_suite_with_a_gate_of_a_kind_is_read():
    suite = load("kinds")
    assert suite.target is not None
    assert (suite.target.kind, suite.limits.concurrency) == ("letta", 4)
    assert suite.target.target.setup_script.text == "agents.py:prepare"
    assert suite.target.target.keep_agents is False
    assert (suite.limits.trial_seconds, suite.limits.turn_seconds) == (300.0, None)
    assert suite.sample_tags == ("urgent",)
    assert [spec.role for spec in suite.graders] == ["scored", "scored"]
    assert suite.scoring.rule == suite.gates[0]


def test_tags_filter_unless_the_caller_selects():
    suite = load("kinds")
    ids = [
        [sample.id for sample in open_dataset(suite, selection).samples()]
        for selection in (Selection(), Selection(ids=("b",)), Selection(ids=("101", "b")))
    ]
    assert ids == [["101"], ["b"], ["101", "b"]]
    (sample,) = open_dataset(suite).samples()
    assert (sample.input, sample.ground_truth) == ("Where is parcel 7?", "7")
    assert sample.agent_args == {"name": "courier"}


def test_a_suite_with_a_reward_and_without_a_kind_is_read():
    suite = load("newest")
    assert suite.target is not None
    assert (suite.target.kind, suite.gates) == ("letta_code", ())
    assert [(spec.name, spec.role) for spec in suite.graders] == [
        ("place", "observed"),
        ("tone", "observed"),
        ("reward", "required"),
    ]
    composer = suite.graders[-1].grader
    assert isinstance(composer, CustomGrader)
    assert composer.is_composer
    rubrics = [sample.rubric for sample in open_dataset(suite).samples()]
    assert rubrics[0] is not None
    assert rubrics[0].startswith("Is {submission} about parcel 7?")
    assert rubrics[1:] == ["Is {submission} about parcel 8?\n", None]


@pytest.mark.parametrize(
    ("text", "native"),
    [
        ("num_runs: 4", {"epochs": 4}),
        (
            "description: ~\nnum_runs: ~\nmax_concurrent: ~\nsandbox: ~\noutput: ~",
            {"epochs": 1},
        ),
        ("max_samples: 3", {"max_samples": 3}),
        ("max_samples: ~\nsample_tags: ~", {"max_samples": None, "sample_tags": ()}),
        ("sample_tags: [a, b]", {"sample_tags": ("a", "b")}),
    ],
)
def test_keys_of_letta_evals_mean_native_ones(folder, text, native):
    folder.suite(text)
    suite = load_suite(folder.path / "suite.yaml")
    assert {name: getattr(suite, name) for name in native} == native
    assert suite.notes == ()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("max_samples: 0", "max_samples: 0 takes all samples"),
        ("output: results", "output: has no effect: every run has a directory"),
        ("cleanup: false", "cleanup: has no effect: the agents that Regrade makes are deleted"),
    ],
)
def test_what_has_no_effect_is_said_and_is_no_fault(folder, text, note):
    path = folder.suite(text)
    suite, faults = inspect_suite(path)
    assert suite is not None
    assert faults == ()
    (said,) = suite.notes
    assert (said.line, note in str(said)) == (4, True)


@pytest.mark.parametrize(("cleanup", "kept"), [("false", True), ("true", False)])
def test_agents_are_kept_where_the_suite_says_that_they_are_not_deleted(folder, cleanup, kept):
    folder.suite(f"{LETTA}\ncleanup: {cleanup}")
    suite = load_suite(folder.path / "suite.yaml")
    assert suite.target is not None
    assert (suite.target.target.keep_agents, suite.notes) == (kept, ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("num_runs: 0", "num_runs: found 0; at least 1"),
        ("num_runs: 2\nepochs: 3", "num_runs: `num_runs` and `epochs` are both given"),
        ("num_rums: 2", 'num_rums: unknown key "num_rums"; did you mean "num_runs"?'),
        ("max_concurrent: 0", "max_concurrent: found 0; at least 1"),
        (
            "max_concurrent: 3\nlimits: {concurrency: 4}",
            "`max_concurrent` and `limits.concurrency` are both given",
        ),
        ("max_samples: -1", "max_samples: found -1; at least 1"),
        ("max_samples: false", "max_samples: found false; a whole number"),
        ("sample_tags: urgent", "sample_tags: found the text 'urgent'; a list of texts"),
        ("sample_tags: [absent]", 'no sample has the tag "absent"; there are none'),
        ("cleanup: 3", "cleanup: found 3; true or false"),
        ("sandbox: {kind: modal}", "sandbox: Regrade starts no Modal sandbox"),
        ("setup_script: a.py:b", "setup_script: there is no target that could be set up"),
        ("display: rich", 'display: unknown key "display"'),
        (f"{LETTA}\ngraders: {{}}", 'duplicate key "graders"'),
    ],
)
def test_a_mistake_is_one_fault_that_shows_the_key_as_it_was_written(folder, text, fault):
    folder.suite(text)
    (found,) = folder.faults()
    assert fault in found


def test_the_spelling_from_before_the_first_release_is_one_fault_with_what_to_change(folder):
    folder.suite(
        "grader: {kind: tool, function: contains}\ngate: {op: gte, value: 0.5}", graders=False
    )
    (fault,) = folder.faults()
    assert fault.startswith("suite.yaml:3:1: grader: one `grader` is the spelling of letta-evals")
    assert "write `graders:`, below it `main:`" in fault


def test_both_of_gate_and_reward_are_a_fault(folder):
    folder.suite(
        "gate: {op: gte, value: 0.5}\nreward: {kind: metric, metric_key: g}\n"
        "gates: [{metric: g, op: gte, value: 0.5}]"
    )
    (fault,) = folder.faults()
    assert "gate: `gate` and `reward` are both given; one of the two; or `gates:`" in fault


@pytest.mark.parametrize(
    ("reward", "fault"),
    [
        ("{kind: metric}", 'reward: "metric_key" is missing'),
        (
            "{kind: metric, metric_key: h}",
            'reward.metric_key: no grader of the suite is called "h"',
        ),
        ("{kind: metrics, metric_key: g}", "reward.kind: found the text 'metrics'; did you mean"),
        ("{metric_key: g}", 'reward: "kind" is missing; one of: metric, custom'),
        ("{kind: custom}", 'reward: "function" is missing'),
        ("{kind: custom, function: no.py:f}", 'reward.function: there is no file "no.py"'),
        (
            "{kind: custom, function: f.py:plain}",
            "reward.function: f.py:plain does not ask for the",
        ),
        ("{kind: custom, function: contains}", "reward.function: contains does not ask for the"),
        ("{kind: metric, metric_key: g, weight: 2}", 'reward.weight: unknown key "weight"'),
        ("5", "reward: found 5; a mapping with a `kind`"),
    ],
)
def test_a_mistake_in_a_reward_is_one_fault(folder, reward, fault):
    folder.write("f.py", "def plain(sample, submission):\n    return 1.0\n")
    folder.suite(f"reward: {reward}")
    (found,) = folder.faults()
    assert fault in found


def test_a_reward_stands_beside_native_gates_and_listed_graders(folder):
    folder.suite(
        "graders: [{name: a, type: contains}, {name: reward, type: contains}]\n"
        "reward: {kind: custom, function: f.py:all_of}\n"
        "gates: [{metric: reward-2, op: gte, value: 0.5}]",
        graders=False,
    )
    folder.write(
        "f.py",
        "from letta_evals import reward_composer\n\n"
        "@reward_composer\ndef all_of(ctx):\n    return 1.0\n",
    )
    suite = load_suite(folder.path / "suite.yaml")
    assert [(spec.name, spec.role) for spec in suite.graders] == [
        ("a", "observed"),
        ("reward", "observed"),
        ("reward-2", "required"),
    ]


def test_a_reward_by_a_metric_lets_that_grader_decide(folder):
    folder.suite(
        "graders: {a: {type: contains}, b: {type: contains}}\n"
        "reward: {kind: metric, metric_key: b}",
        graders=False,
    )
    suite = load_suite(folder.path / "suite.yaml")
    assert [spec.role for spec in suite.graders] == ["observed", "required"]


GRADER = "graders: {g: {kind: model_judge, prompt: 'Is {submission} good?', model: gpt-4o, %s}}"


@pytest.mark.parametrize(
    ("text", "key", "listed"),
    [
        ("zzzz: 1\ngraders: {g: {kind: tool, function: contains}}", "zzzz", ["gate", "num_runs"]),
        (
            (
                "target: {kind: letta, agent_id: a, base_url: 'http://h', zzzz: 1}\n"
                "graders: {g: {kind: tool, function: contains}}"
            ),
            "zzzz",
            ["model_handles", "timeout"],
        ),
        (GRADER % "zzzz: 1", "zzzz", ["prompt", "temperature", "rubric_vars"]),
    ],
)
def test_an_unknown_key_lists_the_spelling_of_its_author_too(tmp_path, text, key, listed):
    path = tmp_path / "suite.yaml"
    gate = "gate: {kind: simple, metric_key: g, op: gte, value: 0.5}"
    path.write_text(f"name: s\nsamples: [{{input: x}}]\n{text}\n{gate}\n", encoding="utf-8")
    [fault] = map(str, find_faults(path))
    assert f'unknown key "{key}"' in fault
    assert [name for name in listed if name not in fault] == []


def test_a_suite_of_our_own_is_told_our_spelling_alone(tmp_path):
    path = tmp_path / "suite.yaml"
    text = "name: s\nzzzz: 1\nsamples: [{input: x}]\ngraders: [{type: contains}]\n"
    path.write_text(text, encoding="utf-8")
    [fault] = map(str, find_faults(path))
    assert "num_runs" not in fault
