"""`${NAME}` in eval specs of Vally, and values for it."""

import pytest

from harness.loading.suite_files import load_suite
from harness.loading.validation import inspect_suite
from harness.loading.vally_parameters import Parameters
from harness.types.errors import InputError

SPEC = """\
name: ${PLACE}-trains
environment: ${PLACE}
defaults:
  runs: ${RUNS}
  executor: copilot-sdk
  timeout: "${SECONDS}s"
stimuli:
  - name: where
    turns: ["From ${PLACE} to ${PLACE}?", "And ${ELSE}?"]
    graders:
      - type: turn-count
        config:
          max: ${MOST}
"""
GIVEN = ("PLACE=porto", "RUNS=3", "MOST=2", "SECONDS=90", "ELSE=a=b ${PLACE}")


def load(folder, *texts):
    return load_suite(folder.write("eval.yaml", SPEC), Parameters(texts))


def test_values_fill_every_text_of_a_spec_and_are_not_looked_at_again(folder):
    suite = load(folder, *GIVEN)
    (sample,) = suite.samples
    assert (suite.name, suite.epochs, suite.limits.trial_seconds) == ("porto-trains", 3, 90.0)
    assert sample.input == ("From porto to porto?", "And a=b ${PLACE}?")
    assert sample.graders[0].grader.max == 2
    assert suite.notes == ()
    assert '"porto" is not known' in str(suite.grade_only[0])


def test_what_has_no_value_stays_and_is_noted_once(folder, monkeypatch):
    monkeypatch.setenv("ELSE", "elsewhere")
    suite = load(folder, "RUNS=3", "MOST=2", "SECONDS=90")
    assert suite.samples[0].input == ("From ${PLACE} to ${PLACE}?", "And ${ELSE}?")
    assert [str(note).partition("eval.yaml:")[2] for note in suite.notes] == [
        "1:7: name: ${PLACE} stays as it is; fill it in with --param PLACE=VALUE",
        "9:43: stimuli[0].turns[1]: ${ELSE} stays as it is; fill it in with --param ELSE=VALUE",
    ]


def test_a_number_where_a_text_is_quoted_stays_a_text(folder):
    path = folder.write("eval.yaml", SPEC.replace("${RUNS}", "'${RUNS}'"))
    _, faults = inspect_suite(path, Parameters(GIVEN))
    assert "defaults.runs: " in str(faults[0])


def test_a_mistake_shows_what_was_written(folder):
    path = folder.write("eval.yaml", SPEC)
    given = [text.replace("RUNS=3", "RUNS=many") for text in GIVEN]
    _, faults = inspect_suite(path, Parameters(given))
    assert "eval.yaml:4:9: defaults.runs: " in str(faults[0])
    assert "what '${RUNS}' stands for" in str(faults[0])


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["PLACE"], '--param: found "PLACE"; NAME=VALUE'),
        (["=x"], '--param: found "=x"; NAME=VALUE'),
        (["A B=x"], '--param: found "A B=x"; NAME=VALUE'),
        (["A=x", "A=y"], '--param: "A" is given twice; each name once'),
    ],
)
def test_a_parameter_that_is_none_is_refused(texts, said):
    with pytest.raises(InputError) as caught:
        Parameters(texts)
    assert [str(fault) for fault in caught.value.faults] == [said]


@pytest.mark.parametrize("spec", [SPEC, "name: ${PLAC}\ngraders: {c: {type: completed}}\n"])
def test_a_value_that_fills_nothing_is_refused(folder, spec):
    parameters = Parameters(["PLAC=x", *(GIVEN if spec == SPEC else ())])
    load_suite(folder.write("eval.yaml", spec), parameters)
    with pytest.raises(InputError, match='"PLAC" fills nothing: no eval spec of Vally says'):
        parameters.require_used()
