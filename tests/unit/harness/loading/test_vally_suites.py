"""Eval specs of Vally, read as suites."""

import pytest

from harness.loading.suite_files import build_suite, load_suite
from harness.types.errors import SuiteError

SPEC = """\
name: trains
description: Where trains go.
type: regression
version: 1.2
tags: {area: trains}
defaults: {runs: 2, timeout: 90s, executor: copilot-sdk}
stimuli:
  - name: where
    prompt: Which train?
    tags: {level: [easy, first]}
    graders:
      - {type: output-contains, config: {value: Tuesday}}
      - {type: output-contains, name: day, config: {value: day}}
  - name: both
    turns: [Which train?, And then?]
    tags:
    graders: [{type: completed, turn: 1}]
"""


def changed(old, new, *, spec=SPEC):
    assert old in spec
    return spec.replace(old, new)


def load(folder, text=SPEC):
    return load_suite(folder.write("eval.yaml", text))


def faults(folder, text):
    return folder.faults(folder.write("eval.yaml", text))


def test_a_stimulus_is_a_sample_with_graders_of_its_own(folder):
    suite = load(folder)
    one, two = suite.samples
    assert (suite.name, suite.description, suite.epochs) == ("trains", "Where trains go.", 2)
    assert (one.id, one.input, two.input) == (
        "where",
        "Which train?",
        ("Which train?", "And then?"),
    )
    assert one.tags == ("area=trains", "level=easy", "level=first")
    assert two.tags == ("area=trains",)
    assert [(spec.name, spec.role) for spec in one.graders] == [
        ("output-contains", "required"),
        ("day", "required"),
    ]
    assert [(spec.kind, spec.turn) for spec in two.graders] == [("completed", 1)]
    assert (suite.graders, suite.grade_only) == ((), ())
    assert (suite.limits.trial_seconds, suite.limits.turn_seconds) == (90.0, None)


def test_without_a_threshold_every_trial_has_to_pass(folder):
    (gate,) = load(folder).gates
    assert (gate.metric, gate.aggregation, gate.op, gate.value) == (
        "trial",
        "pass_rate",
        "gte",
        1.0,
    )


def test_with_a_threshold_the_weighted_mean_decides_by_type(folder):
    scoring = "scoring: {threshold: 0.6, weights: {output-contains: 0.5}}\nstimuli:"
    suite = load(folder, changed("stimuli:", scoring))
    (gate,) = suite.gates
    assert (suite.scoring.threshold, gate.aggregation, gate.value) == (0.6, "mean", 0.6)
    weights = [spec.weight for sample in suite.samples for spec in sample.graders]
    assert weights == [0.5, 0.5, 1.0]
    assert {spec.role for sample in suite.samples for spec in sample.graders} == {"scored"}


@pytest.mark.parametrize(
    ("written", "seconds"), [("30000ms", 30.0), ("5m", 300.0), ("1h", 3600.0), ("1.5s", 1.5)]
)
def test_durations_have_a_unit(folder, written, seconds):
    assert load(folder, changed("90s", written)).limits.trial_seconds == seconds


def test_settings_have_defaults_and_a_former_name(folder):
    assert load(folder, changed("defaults", "config")).epochs == 2
    plain = load(folder, changed("defaults: {runs: 2, timeout: 90s, executor: copilot-sdk}\n", ""))
    assert (plain.epochs, plain.limits.trial_seconds) == (1, 120.0)


def test_turns_may_be_objects_and_the_prompt_beside_them_repeats_them(folder):
    turns = "prompt: all of it\n    turns: [{prompt: Which train?}, And then?]"
    suite = load(folder, changed("turns: [Which train?, And then?]", turns))
    assert suite.samples[1].input == ("Which train?", "And then?")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("copilot-sdk", "copilot", 'eval.yaml:6:45: defaults.executor: unknown executor "copilot"'),
        ("copilot-sdk", "''", "eval.yaml:6:45: defaults.executor: the executor has no name"),
        ("copilot-sdk", "~", "eval.yaml:6:45: defaults.executor: the executor has no name"),
        (", executor: copilot-sdk", "", 'eval.yaml:6:11: defaults: "executor" is missing'),
        ("90s", "90", "eval.yaml:6:30: defaults.timeout: found 90; a duration with its unit"),
        ("90s", "soon", "eval.yaml:6:30: defaults.timeout: found the text 'soon'; a duration"),
        ("runs: 2", "runs: -1", "eval.yaml:6:18: defaults.runs: "),
        ("runs: 2", "run: 2", 'eval.yaml:6:12: defaults.run: unknown key "run"; did you mean'),
        ("type: regression", "type: else", "eval.yaml:3:7: type: "),
        ("name: trains", "nam: trains", 'eval.yaml:1:1: nam: unknown key "nam"; did you mean'),
        ("name: where", "nam: where", 'eval.yaml:8:5: stimuli[0].nam: unknown key "nam"'),
        ("prompt: Which train?", "prompt: q\n    x: y", "eval.yaml:10:5: stimuli[0].x: unknown"),
        ("prompt: Which train?", "prompt:", "eval.yaml:9:12: stimuli[0].prompt: found nothing"),
        ("[Which train?, And then?]", "[]", "eval.yaml:15:12: stimuli[1].turns: found an empty"),
        ("[Which train?, And then?]", "[[a]]", ":15:13: stimuli[1].turns[0]: found a list"),
        ("[{type: completed, turn: 1}]", "[]", "eval.yaml:17:14: stimuli[1].graders: there is no"),
        ("graders: [{type: completed, turn: 1}]", "golden_patch: x", "there is no grader"),
        ("type: completed", "type: complete", 'did you mean "completed"?'),
        ("type: completed", "type: file-exists", "no target has one"),
        ("type: completed", "type: prompt", "write `type: model_judge`"),
        ("name: both", "name: where", 'duplicate id: the id "where"'),
        ("stimuli:\n", "scoring: {weights: {complete: 1}}\nstimuli:\n", 'of type "complete"'),
        ("stimuli:\n", "scoring: {threshold: 7}\nstimuli:\n", "scoring.threshold"),
    ],
)  # fmt: skip
def test_a_mistake_is_shown_where_the_user_wrote_it(folder, old, new, fault):
    found = faults(folder, changed(old, new))
    assert any(fault in one for one in found), found
    assert len(found) == 1, found


@pytest.mark.parametrize("stimuli", ["stimuli: []", "stimuli: x", "stimuli:", "stimuli: [x]"])
def test_a_spec_without_stimuli_is_a_fault_and_no_crash(folder, stimuli):
    assert faults(folder, f"name: s\n{stimuli}\n")


def test_two_settings_are_one_fault(folder):
    both = "config: {executor: mock}\ndefaults:"
    assert any("both given" in one for one in faults(folder, changed("defaults:", both)))


def refusals(suite):
    return [str(fault).partition("eval.yaml:")[2] for fault in sorted(suite.grade_only)]


def test_what_no_target_honours_is_kept_for_run_to_refuse(folder):
    text = changed("runs: 2", "runs: 0, reasoning_effort: high")
    more = (
        "constraints: {max_turns: 3}\n    artifacts: {include: [a]}\n    environment: {env: {A: b}}"
    )
    suite = load(folder, changed("tags:\n", f"{more}\n    tags:\n", spec=text))
    assert [line.split(": ")[1] for line in refusals(suite)] == [
        "defaults.runs",
        "defaults.reasoning_effort",
        "stimuli[1].constraints",
        "stimuli[1].artifacts",
        "stimuli[1].environment",
    ]


def test_an_empty_environment_asks_for_nothing(folder):
    text = changed("stimuli:", "environment: {files: [], env: {}, skills: }\nstimuli:")
    assert load(folder, text).grade_only == ()


class TestNamedEnvironments:
    """Environments that the project file names."""

    PROJECT = "environments:\n  linux: {mcpServers: {a: {command: b}}, files: []}\n  bare: {}\n"

    def load(self, folder, name):
        folder.write(".vally.yaml", self.PROJECT)
        text = changed("stimuli:", f"environment: {name}\nstimuli:")
        return load_suite(folder.write("evals/one/eval.yaml", text))

    def test_one_is_found_in_a_folder_above(self, folder):
        assert "no target sets up `mcpServers`" in refusals(self.load(folder, "linux"))[0]
        assert self.load(folder, "bare").grade_only == ()

    def test_one_that_is_not_there_is_a_fault(self, folder):
        with pytest.raises(SuiteError, match='has no environment "linus"; did you mean "linux"'):
            self.load(folder, "linus")

    def test_its_name_may_come_from_the_environment(self, folder, monkeypatch):
        monkeypatch.setenv("TRAIN_HOST", "bare")
        assert self.load(folder, "${TRAIN_HOST}").grade_only == ()
        monkeypatch.delenv("TRAIN_HOST")
        assert "TRAIN_HOST is not set" in refusals(self.load(folder, "${TRAIN_HOST}"))[0]

    def test_without_a_project_file_only_a_run_is_refused(self, folder):
        suite = load(folder, changed("stimuli:", "environment: linux\nstimuli:"))
        assert 'the environment "linux" is not known' in refusals(suite)[0]


NOT_WHOLE = "a suite of a Vally project is not taken as a whole; name its eval specs one by one:"
PROJECT = """\
paths: {evals: [evals/]}
suites:
  nightly: {description: all, evals: [a/*.yaml, b/eval.yaml], filter: {area: [trains, seats]}}
  weekly: {evals: c/**/eval.yaml, filter: {area: trains, level: easy}}
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            PROJECT,
            [
                (
                    f"3:12: suites.nightly: {NOT_WHOLE} a/*.yaml, b/eval.yaml; and for its filter, "
                    "--tag area=trains --tag area=seats"
                ),
                f"4:11: suites.weekly: {NOT_WHOLE} c/**/eval.yaml",
            ],
        ),
        (
            "environments: {bare: {}}",
            [
                (
                    "1:1: a project file of Vally holds no eval spec; "
                    "name the file of a spec, such as evals/eval.yaml"
                )
            ],
        ),
    ],
)
def test_a_project_file_is_refused_by_its_suites(folder, text, found):
    faults = folder.faults(folder.write(".vally.yaml", text))
    assert [fault.partition(".vally.yaml:")[2] for fault in faults] == found


def test_a_spec_may_be_made_in_python():
    graders = [{"type": "completed"}]
    stimuli = [{"name": "a", "prompt": "q", "graders": graders}]
    suite = build_suite({"name": "s", "stimuli": stimuli}, ".")
    assert [sample.id for sample in suite.samples] == ["a"]
