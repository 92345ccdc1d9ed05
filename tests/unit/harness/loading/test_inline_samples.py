import pytest

from harness.loading.datasets import open_dataset
from harness.loading.suite_files import load_suite


def load(folder, samples):
    path = folder.suite(f"samples: {samples}", samples=False)
    return list(open_dataset(load_suite(path)).samples())


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("{id: 010, input: 12:30:00, ground_truth: NO}", ("010", "12:30:00", "NO")),
        ("{id: 1.10, input: true, ground_truth: 1e3}", ("1.10", "true", "1e3")),
        (
            "{input: [2031-02-03, 7], ground_truth: [on, 1.0]}",
            ("0", ("2031-02-03", "7"), ("on", "1.0")),
        ),
        ("{id: ~, input: x, ground_truth: ~}", ("0", "x", None)),
        ("{sample_id: a, prompt: x, ideal: y}", ("a", "x", "y")),
    ],
)
def test_texts_are_what_was_written(folder, row, expected):
    [sample] = load(folder, f"[{row}]")
    assert (sample.id, sample.input, sample.ground_truth) == expected


def test_numbers_in_free_mappings_are_numbers_where_that_changes_nothing(folder):
    values = "{a: 7, b: 1.10, c: [010, 1.5], d: NO, e: ~, f: true}"
    [sample] = load(folder, f"[{{input: x, metadata: {values}, color: 1.10}}]")
    assert sample.metadata == {
        "a": 7,
        "b": "1.10",
        "c": ["010", 1.5],
        "d": "NO",
        "e": None,
        "f": True,
        "color": "1.10",
    }


def test_names_in_samples_are_never_filled_in(folder, monkeypatch):
    monkeypatch.setenv("NAME", "secret")
    [sample] = load(folder, "[{input: 'say ${NAME}', metadata: {a: '${NAME}'}}]")
    assert (sample.input, sample.metadata) == ("say ${NAME}", {"a": "${NAME}"})


def test_a_sample_may_have_graders_of_its_own(folder):
    folder.write("g.py", "def mine(submission): ...\n")
    [sample] = load(folder, "[{input: x, graders: [{type: 'g.py:mine'}]}]")
    assert [spec.name for spec in sample.graders] == ["mine"]


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ("[]", "3:10: samples: there are no samples"),
        ("x", "3:10: samples: found the text 'x'; a list of samples"),
        ("[x]", "3:11: samples[0]: found the text 'x'; a mapping with an `input`"),
        ("[{id: a}]", '3:11: samples[0].input: "input" is missing'),
        ("[{input: ''}]", '3:19: samples[0].input: "input" is empty'),
        ("[{input: {a: b}}]", "3:19: samples[0].input: found a mapping"),
        ("[{input: x, tags: [[a]]}]", "3:28: samples[0].tags: found a list; a list of texts"),
        ("[{input: x, metadata: y}]", "3:32: samples[0].metadata: found the text 'y'; a mapping"),
        ("[{input: x, history: [{role: me}]}]", "samples[0].history[0]: the role is the text 'me'"),
        (
            "[{id: a, input: x}, {id: a, input: y}]",
            '3:35: samples[1].id: duplicate id: the id "a"; the other is on line 3',
        ),
        (
            "[{id: 1, input: x}, {id: '1', input: y}]",
            'samples[1].id: the id "1" is a text and a number',
        ),
        ("[{input: x, grund_truth: y}]", '3:22: samples[0].grund_truth: "grund_truth" goes to the'),
        (
            "[{input: x, graders: {g: {type: contains}}}]",
            'samples[0].graders.g: the suite has a grader "g" already; another name',
        ),
        ("[{input: x, graders: [{type: contans}]}]", 'unknown grader "contans"; did you mean'),
    ],
)
def test_a_wrong_sample_is_one_fault_at_its_place(folder, samples, expected):
    folder.write("suite.yaml", f"name: s\ngraders: {{g: {{type: contains}}}}\nsamples: {samples}\n")
    found = folder.faults()
    assert len(found) == 1, found
    assert expected in found[0]
