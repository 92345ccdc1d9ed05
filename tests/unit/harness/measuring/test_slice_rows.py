"""The trials of each slice."""

from harness.measuring.slice_rows import MOST_VALUES, SliceRows


def rows_of(*trials):
    rows = SliceRows()
    for row, slices in enumerate(trials):
        rows.add(row, slices)
    return rows


def test_a_trial_is_in_the_slice_of_each_of_its_values():
    rows = rows_of(
        {"tags": ("b", "a"), "lang": ()}, {"tags": (), "lang": ("de",)}, {"tags": ("a",)}
    )
    found = {name: {value: list(of) for value, of in values.items()} for name, values in rows}
    assert found == {"tags": {"a": [0, 2], "b": [0]}, "lang": {"de": [1]}}
    assert list(found["tags"]) == ["a", "b"]


def test_trials_that_have_all_of_some_values_are_found():
    rows = rows_of(
        {"a": ("1",), "b": ("x",)}, {"a": ("1",), "b": ("y",)}, {"a": ("2",), "b": ("x",)}
    )
    assert list(rows.of({"a": "1"})) == [0, 1]
    assert rows.of({"a": "1", "b": "x"}) == [0]
    assert list(rows.of({"a": "3"})) == []
    assert list(rows.of({"c": "1"})) == []


def test_a_name_that_tells_single_samples_apart_makes_no_slices():
    rows = rows_of(*({"id": (str(n),), "a": ("1",)} for n in range(MOST_VALUES + 5)))
    assert [name for name, _ in rows] == ["a"]
    assert list(rows.overflowing) == ["id"]
    assert list(rows.of({"id": "3"})) == []
