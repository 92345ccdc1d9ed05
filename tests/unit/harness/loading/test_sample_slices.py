"""The slices of samples, and names and values that no sample has."""

import pytest

from harness.loading.sample_slices import slices_of
from harness.types.samples import Sample


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("de", ("de",)),
        (3, ("3",)),
        (2.5, ("2.5",)),
        (True, ("true",)),
        (["a", "b", "a", None, ""], ("a", "b")),
        ({"x": [1, "é"]}, ('{"x":[1,"é"]}',)),
        (None, ()),
        ("", ()),
        ([], ()),
        ("x" * 300, ("x" * 199 + "…",)),
    ],
)
def test_a_value_of_the_metadata_is_a_text(value, found):
    assert slices_of(Sample(id="s", input="x", metadata={"k": value}), ["k"]) == {"k": found}


def test_tags_are_values_and_what_is_not_there_has_none():
    sample = Sample(id="s", input="x", tags=("a", "b"))
    assert slices_of(sample, ["tags", "k"]) == {"tags": ("a", "b"), "k": ()}


SAMPLES = "samples: [{input: x, language: de, level: 3}, {input: y, language: en, tags: [a]}]\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "slices: [langage]",
            'suite.yaml: slices: no sample has "langage"; did you mean "language"?',
        ),
        ("slices: [colour]", 'no sample has "colour"; allowed: language, level, tags'),
        (
            "slices: [language]\ngates: [{metric: g, slice: {language: fr}, op: gte, value: 1}]",
            'suite.yaml: gates[0].slice.language: no sample has "fr"; allowed: de, en',
        ),
        (
            "slices: [level]\ngates: [{any: [{metric: g, slice: {level: 4}, op: gte, value: 1}]}]",
            'suite.yaml: gates[0].any[0].slice.level: no sample has "4"; allowed: 3',
        ),
        ("slices: language", "slices: found the text 'language'; a list"),
    ],
)
def test_what_no_sample_has_is_a_fault(folder, text, fault):
    folder.suite(SAMPLES + text, samples=False)
    (found,) = folder.faults()
    assert fault in found


def test_slices_that_samples_have_are_no_fault(folder):
    gates = "gates: [{metric: g, slice: {language: de, level: 3}, op: gte, value: 1}]"
    folder.suite(f"{SAMPLES}slices: [language, tags, level]\n{gates}", samples=False)
    assert folder.faults() == []
