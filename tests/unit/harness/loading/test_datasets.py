import json
import os
from pathlib import Path

import pytest

from harness.loading.census import find_duplicates
from harness.loading.datasets import Selection, open_dataset
from harness.loading.suite_files import load_suite
from harness.types.code import SuitePath
from harness.types.errors import DatasetError
from harness.types.samples import Sample
from harness.types.suites import Suite

DATA = Path(__file__).parents[3] / "data" / "loading"


def suite_on(path):
    return Suite(name="s", dataset=SuitePath(text=path.name, path=path))


@pytest.fixture
def read(folder):
    """Write a dataset and give its samples."""

    def read(text, name="d.jsonl", selection=None):
        path = folder.write(name, text)
        return list(open_dataset(suite_on(path), selection or Selection()).samples())

    return read


@pytest.fixture
def refused(read):
    """Write a dataset and give its faults as lines."""

    def refused(text, name="d.jsonl", selection=None):
        with pytest.raises(DatasetError) as caught:
            read(text, name, selection)
        return [str(fault) for fault in caught.value.faults]

    return refused


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("byte_order_mark.csv", ["Where is parcel 77?"]),
        ("byte_order_mark.jsonl", ["Where is parcel 77?"]),
        (
            "line_breaks_in_cells.csv",
            ['line one\r\nline two, with comma\r\n\r\nline "four"', "short"],
        ),
        ("blank_lines.jsonl", ["one", "two"]),
        ("accents.jsonl", ["réponse", "日本 🙂 ≤"]),
    ],
)
def test_files_as_other_programs_save_them_are_read(name, inputs):
    dataset = open_dataset(suite_on(DATA / name))
    assert [sample.input for sample in dataset.samples()] == inputs
    assert (dataset.count, dataset.warnings) == (len(inputs), ())


@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("fifth_line_broken.jsonl", 5, "the JSON ends before it is complete"),
        ("glued_and_torn.jsonl", 1, '"input" is missing'),
        ("glued_and_torn.jsonl", 2, "this is no JSON"),
        ("glued_and_torn.jsonl", 3, "this is no JSON"),
        ("glued_and_torn.jsonl", 4, "something follows the JSON value on this line"),
        ("empty.jsonl", 0, "the dataset holds no samples"),
        ("only_blank_lines.jsonl", 0, "the dataset holds no samples"),
    ],
)
def test_broken_files_are_refused_at_the_line_that_is_broken(name, line, problem):
    with pytest.raises(DatasetError) as caught:
        open_dataset(suite_on(DATA / name))
    assert [
        line for fault in caught.value.faults if problem in fault.problem and fault.line == line
    ]


def test_a_row_has_all_its_parts(read):
    row = {
        "id": "a",
        "input": ["x", "y"],
        "ground_truth": ["1", "2"],
        "tags": ["t"],
        "metadata": {"m": 1.5},
        "extra_vars": {"e": [1]},
        "agent_args": {"g": None},
        "rubric_vars": {"r": "s"},
        "history": [{"role": "user", "content": "hi"}],
        "color": "red",
    }
    [sample] = read(json.dumps(row))
    assert sample == Sample(
        id="a",
        input=("x", "y"),
        ground_truth=("1", "2"),
        tags=("t",),
        metadata={"m": 1.5, "color": "red"},
        extra_vars={"e": [1]},
        agent_args={"g": None},
        rubric_vars={"r": "s"},
        history=({"role": "user", "content": "hi"},),
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ('{"input": "x"}', {"id": "0"}),
        ('{"id": null, "input": "x"}', {"id": "0"}),
        ('{"id": 7, "input": "x"}', {"id": "7"}),
        ('{"id": 1.50, "input": "x"}', {"id": "1.50"}),
        ('{"id": true, "input": "x"}', {"id": "true"}),
        ('{"id": "i", "sample_id": "s", "input": "x"}', {"id": "s", "metadata": {"id": "i"}}),
        ('{"prompt": "x"}', {"input": "x"}),
        ('{"input": null, "prompt": "x"}', {"input": "x"}),
        ('{"input": "x", "prompt": "y"}', {"input": "x", "metadata": {"prompt": "y"}}),
        ('{"input": "x", "ideal": "y"}', {"ground_truth": "y"}),
        ('{"input": "x", "ground_truth": 1.10}', {"ground_truth": "1.10"}),
        ('{"input": "x", "ground_truth": 1e3}', {"ground_truth": "1e3"}),
        (
            '{"input": "x", "ground_truth": 12345678901234567890}',
            {"ground_truth": "1" + "2345678901234567890"},
        ),
        ('{"input": "x", "ground_truth": false}', {"ground_truth": "false"}),
        ('{"input": "x", "ground_truth": null}', {"ground_truth": None}),
        ('{"input": "x", "ground_truth": ""}', {"ground_truth": ""}),
        ('{"input": ["x", "y"], "ground_truth": [1.0, true]}', {"ground_truth": ("1.0", "true")}),
        ('{"input": ["x", "y"], "ground_truth": "z"}', {"input": ("x", "y"), "ground_truth": "z"}),
        ('{"input": "x", "tags": "t"}', {"tags": ("t",)}),
        ('{"input": "x", "metadata": {"agent_args": {"a": 1}}}', {"agent_args": {"a": 1}}),
        ('{"input": "a\\u2028b\\u0085c"}', {"input": "a\u2028b\u0085c"}),
        (
            '{"input": "a\u2028b\u0085c\u2029d\x0c"}'.replace("\x0c", ""),
            {"input": "a\u2028b\u0085c\u2029d"},
        ),
        ('\t{ "input" : "say \\"x\\": y" } \r', {"input": 'say "x": y'}),
        ('{"input": "\\ud83d\\ude42"}', {"input": "🙂"}),
        ('{"input": " "}', {"input": " "}),
    ],
)
def test_columns_are_read_by_their_rules(read, row, expected):
    [sample] = read(row + "\n")
    assert {name: getattr(sample, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("{}", '1: input: "input" is missing; a text, or a list of texts: one a user turn'),
        ('{"id": "a", "input": ""}', '1:22: input: "input" is empty'),
        ('{"id": "a", "input": null}', '1:22: input: "input" is null'),
        ('{"input": []}', '1:11: input: "input" is empty'),
        ('{"input": 3}', "1:11: input: found 3"),
        ('{"input": ["a", ""]}', "1:11: input: turn 1 is empty"),
        ('{"input": ["a", 2]}', "1:11: input: turn 1 is 2"),
        ('{"input": {"a": 2}}', "1:11: input: found a mapping"),
        ('{"id": "", "input": "x"}', "1:8: id: the id is empty"),
        ('{"id": ["a"], "input": "x"}', "1:8: id: found a list; a text or a number"),
        ('{"input": "x", "ground_truth": {}}', "1:32: ground_truth: found a mapping"),
        ('{"input": "x", "ground_truth": ["y"]}', "1:32: ground_truth: is a list, but the input"),
        ('{"input": ["x"], "ground_truth": ["y", "z"]}', "has 2 texts for the 1 turns"),
        ('{"input": ["x"], "ground_truth": [null]}', "ground_truth: turn 0 is null; a text"),
        ('{"input": "x", "tags": [1]}', "1:24: tags: found a list; a list of texts"),
        ('{"input": "x", "tags": {"a": "b"}}', "1:24: tags: found a mapping"),
        ('{"input": "x", "metadata": []}', "1:28: metadata: found a list; a mapping"),
        ('{"input": "x", "agent_args": "y"}', "1:30: agent_args: found the text 'y'; a mapping"),
        ('{"input": "x", "metadata": {"c": 1}, "c": 2}', '1:43: c: "c" is both a column'),
        ('{"input": "x", "history": {}}', "1:27: history: found a mapping"),
        (
            '{"input": "x", "history": [{"role": "usr", "content": ""}]}',
            "the role is the text 'usr'",
        ),
        ('{"input": "x", "history": [{"role": "user"}]}', '"content" is missing'),
        ('{"input": "x", "history": [{"role": "user", "content": 3}]}', "history[0]: the content"),
        ('{"input": "x", "history": ["hi"]}', "history[0]: found the text 'hi'; a mapping"),
        ('{"input": "x", "input": "y"}', '1: duplicate key "input" in one object'),
        ('{"input": "x", "input" : "y"}', '1: duplicate key "input" in one object'),
        ('{"input": "x", "m": {"a": 1, "a": 2}}', '1: duplicate key "a" in one object'),
        ('{"input": "x", "in\\u0070ut": "y"}', '1: duplicate key "input" in one object'),
        ('{"input": "x", "v": NaN}', "1: NaN is no JSON number"),
        ('{"input": "x", "v": -Infinity}', "1: -Infinity is no JSON number"),
        ('{"input": "x", "v": 1e999}', "1: the number 1e999 is too large"),
        (
            '{"input": "x", "v": ' + "9" * 5000 + "}",
            "1: the JSON holds a number of more than 4300 digits",
        ),
        ("[" * 100_000, "1: the JSON is nested deeper than 200 levels"),
        ('["x"]', "1:1: found a list; one JSON object a line"),
        ('"x"', "1:1: found the text 'x'; one JSON object a line"),
        ('{"input": "x"} {"input": "y"}', "1:16: something follows the JSON value on this line"),
        ('{"input": "x",}', "1:15: this is no JSON"),
        ("{'input': 'x'}", "1:2: this is no JSON"),
        ('{"input": "x\x01"}', "1:13: this is no JSON: invalid control character"),
        ('{"input": "x', "1:11: this is no JSON: unterminated string"),
        ('{"input": "x"', "1:14: the last line of the file is torn"),
    ],
)
def test_a_broken_row_is_one_fault_with_its_line_and_column(refused, row, expected):
    found = refused(row)
    assert len(found) == 1, found
    assert found[0].removeprefix("d.jsonl:").startswith(expected) or f": {expected}" in found[0]


def test_everything_that_is_wrong_is_said_at_once_with_lines_that_count_blank_ones(refused):
    text = '{"input": "a"}\n\n{"input": 1, "tags": 2}\n \t\nnonsense\n{"id": 0, "input": "b"}\n'
    assert [fault.split(": ")[0] for fault in refused(text)] == [
        "d.jsonl:3:11",
        "d.jsonl:3:22",
        "d.jsonl:5:1",
        "d.jsonl:6",
    ]


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        ('"a"', '"a"', 'duplicate id: the id "a"; the other is on line 1'),
        ("1", "1", 'duplicate id: the id "1"; the other is on line 1'),
        ("1", '"1"', 'the id "1" is a text and a number; the other is'),
        ('"true"', "true", 'the id "true" is a text and a number'),
        ('"1.50"', "1.50", 'the id "1.50" is a text and a number'),
        ('"2"', "null", 'duplicate id: the id "2"; the other is on line 1'),
    ],
)
def test_an_id_that_stands_twice_names_both_lines(refused, first, second, problem):
    rows = [f'{{"id": {one}, "input": "x"}}' for one in (first, '"b"', second)]
    [fault] = refused("\n".join(rows))
    assert fault.startswith("d.jsonl:3: id: ")
    assert problem in fault


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.jsonl", '{"id": "a", "input": "x"}\n{"id": "run canary-9f3a", "input": "x"}\n'),
        ("d.jsonl", '{"id": "a", "input": "x"}\n{"id": "canary-9f3a", "input": "x", "b": {}}\n'),
        (
            "d.jsonl",
            '{"id": "a", "input": "x"}\n{"id": "canary-9f3a", "input": "x", "history": []}',
        ),
        ("d.jsonl", '{"input": "x"}\n{"sample_id": "canary\\u002d9f3a", "input": "x"}\n'),
        ("d.csv", 'id,input\n"canary-9f3a",x\n'),
    ],
)
def test_an_id_that_holds_a_secret_is_refused_without_showing_it(refused, monkeypatch, name, text):
    monkeypatch.setenv("SOME_API_KEY", "canary-9f3a")
    [fault] = refused(text, name)
    assert fault.startswith(f"{name}:2: id: the id holds the value of a secret")
    assert "canary" not in fault


def test_one_secret_among_very_many_ids_is_found(refused, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "canary-9f3a")
    ids = [f"sample-{index}" for index in range(10_000)]
    for at in (0, 4_095, 4_096, 9_999):
        ids[at] = f"canary-9f3a-{at}"
    found = refused("".join(f'{{"id": "{one}", "input": "x"}}\n' for one in ids))
    assert [fault.split(":")[1] for fault in found] == ["1", "4096", "4097", "10000"]


def test_an_id_of_a_sample_in_the_suite_that_holds_a_secret_is_refused_too():
    suite = Suite(
        name="s", secrets=("canary-9f3a",), samples=(Sample(id="canary-9f3a", input="x"),)
    )
    with pytest.raises(DatasetError) as caught:
        open_dataset(suite)
    [fault] = map(str, caught.value.faults)
    assert "samples[0].id: the id holds the value of a secret" in fault
    assert "canary" not in fault


def test_ids_whose_hashes_clash_are_looked_at_again():
    rows = [(1, "a", True), (2, "b", True), (3, "c", True), (4, "b", True)]
    clashing = {hash("a"), hash("b"), hash("c")}
    assert [fault.line for fault in find_duplicates(rows, clashing, "d.jsonl")] == [4]
    assert list(find_duplicates(rows[:3], clashing, "d.jsonl")) == []


def test_at_most_a_hundred_faults_are_listed_and_the_others_counted(refused):
    found = refused("nonsense\n" * 1234)
    assert len(found) == 101
    assert found[-1] == "d.jsonl: and 1,134 more faults"
    found = refused('{"id": "a", "input": "x"}\n' * 1234)
    assert len(found) == 101
    assert found[-1] == "d.jsonl: and 1,133 more faults"


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv"])
def test_a_file_in_another_encoding_is_one_clear_line(refused, name):
    text = "input\né\né\né\n" if name == "d.csv" else '{"input": "é"}\n' * 3
    [fault] = refused(text.encode("utf-16"), name)
    assert fault == f"{name}: the file is UTF-16 or UTF-32; save the file as UTF-8"
    [fault] = refused(text.encode("latin-1"), name)
    assert "the byte 0xE9 is not UTF-8" in fault


def test_lone_surrogates_become_replacement_characters_and_a_warning(folder):
    path = folder.write(
        "d.jsonl", '{"input": "a\\ud800b", "c\\udfff": ["\\udc00\\ud83d\\ude42"]}\n'
    )
    dataset = open_dataset(suite_on(path))
    [sample] = dataset.samples()
    assert (sample.input, sample.metadata) == ("a\ufffdb", {"c\ufffd": ["\ufffd🙂"]})
    assert list(map(str, dataset.warnings)) == [
        "d.jsonl: 3 lone surrogates were replaced by U+FFFD"
    ]


@pytest.mark.parametrize(
    ("row", "warned"),
    [
        ('{"input": "x", "grund_truth": "y"}', ["grund_truth"]),
        ('{"input": "x", "Tags": ["y"]}', ["Tags"]),
        ('{"input": "x", "ground_truth": "y", "grund_truth": "z"}', []),
        ('{"input": "x", "color": "red", "rubric": "r"}', []),
    ],
)
def test_a_column_that_looks_misspelt_is_warned_of_once(folder, row, warned):
    dataset = open_dataset(suite_on(folder.write("d.jsonl", f"{row}\n" * 3)))
    assert [fault.path for fault in dataset.warnings] == warned
    assert all(fault.line == 1 and "did you mean" in fault.allowed for fault in dataset.warnings)


ROWS = "".join(
    json.dumps({"id": f"s{i}", "input": "x", "tags": ["odd"] if i % 2 else ["even", "all"]}) + "\n"
    for i in range(6)
)


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        (Selection(), ["s0", "s1", "s2", "s3", "s4", "s5"]),
        (Selection(limit=2), ["s0", "s1"]),
        (Selection(limit=99), ["s0", "s1", "s2", "s3", "s4", "s5"]),
        (Selection(ids=("s4", "s1")), ["s1", "s4"]),
        (Selection(tags=("odd",)), ["s1", "s3", "s5"]),
        (Selection(tags=("odd", "all"), limit=3), ["s0", "s1", "s2"]),
        (Selection(tags=("odd",), ids=("s1", "s2")), ["s1"]),
    ],
)
def test_samples_are_selected_by_id_tag_and_number(folder, selection, ids):
    dataset = open_dataset(suite_on(folder.write("d.jsonl", ROWS)), selection)
    assert [sample.id for sample in dataset.samples()] == ids
    assert dataset.count == len(ids)
    inline = Suite(
        name="s", samples=tuple(open_dataset(suite_on(folder.path / "d.jsonl")).samples())
    )
    dataset = open_dataset(inline, selection)
    assert ([sample.id for sample in dataset.samples()], dataset.count) == (ids, len(ids))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(ids=("ss1",)), ['no sample is called "ss1"; did you mean "s1"?']),
        (Selection(ids=("other", "s1")), ['no sample is called "other"; allowed: s0, s1']),
        (Selection(tags=("od",)), ['no sample has the tag "od"; did you mean "odd"?']),
        (Selection(tags=("x",), ids=("y",)), ['called "y"', 'no sample has the tag "x"; allowed:']),
        (Selection(tags=("odd",), ids=("s0",)), ["the selection takes no sample"]),
        (Selection(limit=0), ["the selection takes no sample"]),
    ],
)
def test_a_selection_that_takes_nothing_is_refused(folder, refused, selection, expected):
    found = refused(ROWS, selection=selection)
    assert len(found) == len(expected)
    assert all(part in fault for part, fault in zip(expected, found, strict=True))
    inline = Suite(
        name="s", samples=tuple(open_dataset(suite_on(folder.path / "d.jsonl")).samples())
    )
    with pytest.raises(DatasetError):
        open_dataset(inline, selection)


def test_a_file_that_changes_after_the_check_is_an_error_not_another_run(folder):
    path = folder.write("d.jsonl", ROWS)
    for change in (ROWS.replace("s5", "t5"), ROWS + ROWS, "nonsense", ""):
        dataset = open_dataset(suite_on(folder.write("d.jsonl", ROWS)))
        state = path.stat()
        path.write_text(change)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        with pytest.raises(DatasetError, match="has changed since it was checked"):
            list(dataset.samples())
    dataset = open_dataset(suite_on(folder.write("d.jsonl", ROWS)))
    path.unlink()
    with pytest.raises(DatasetError, match="cannot be read"):
        list(dataset.samples())


def test_samples_can_be_read_again_and_again(folder):
    dataset = open_dataset(suite_on(folder.write("d.jsonl", ROWS)))
    one, two = dataset.samples(), dataset.samples()
    assert next(one) == next(two)
    assert list(one) == list(two)
    assert dataset.sha256.startswith("sha256:")


def test_rows_may_have_graders_of_their_own_but_name_no_files(folder, refused, read):
    row = {"input": "x", "graders": {"own": {"type": "contains", "weight": 2}}}
    [sample] = read(json.dumps(row) + "\n")
    assert [(spec.name, spec.weight) for spec in sample.graders] == [("own", 2.0)]
    folder.write("g.py", "raise SystemExit\n")
    for entry, problem in [
        (
            {"type": "g.py:f"},
            "a dataset cannot name files; write the samples in the suite, or name the grader",
        ),
        ({"type": "contans"}, 'unknown grader "contans"; did you mean "contains"?'),
    ]:
        [fault] = refused(json.dumps({"input": "x", "graders": [entry]}) + "\n")
        assert fault.startswith(f"d.jsonl:1: graders[0].type: {problem}")


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv"])
def test_an_invalid_pattern_of_a_row_is_a_warning_of_the_dataset_and_a_fault_for_validate(
    folder, name
):
    config = {"tools": ["a"], "pattern": "(b"}
    graders = {"own": {"type": "assistant-contains-tool-output", "config": config}}
    cell = json.dumps(graders).replace('"', '""')
    text = f'input,graders\nx,"{cell}"\n' if name == "d.csv" else ""
    folder.write(name, text or json.dumps({"input": "x", "graders": graders}) + "\n")
    folder.suite(f"dataset: {name}", samples=False)
    dataset = open_dataset(load_suite(folder.path / "suite.yaml"))
    [warning] = dataset.warnings
    assert (warning.path, warning.line) == ("graders.own.config.pattern", 2 if text else 1)
    assert [spec.name for sample in dataset.samples() for spec in sample.graders] == ["own"]
    assert folder.faults() == [str(warning).replace(f"{folder.path.as_posix()}/", "")]


def test_at_most_a_hundred_warnings_are_listed_and_the_others_counted(folder):
    entry = {"type": "assistant-contains-tool-output", "config": {"tools": ["a"], "pattern": "("}}
    row = json.dumps({"input": "x", "graders": [entry]}) + "\n"
    dataset = open_dataset(suite_on(folder.write("d.jsonl", row * 300)))
    assert [fault.line for fault in dataset.warnings] == [*range(1, 101), 0]
    assert str(dataset.warnings[-1]) == "d.jsonl: and 200 more warnings"


def test_samples_that_python_made_are_checked_for_their_ids():
    samples = (Sample(id="a", input="x"), Sample(id="a", input="y"))
    with pytest.raises(DatasetError, match='duplicate id: the id "a"'):
        open_dataset(Suite(name="s", samples=samples))
    with pytest.raises(DatasetError, match="there are no samples"):
        open_dataset(Suite(name="s", samples=()))


def test_a_limit_may_be_any_number(folder):
    folder.write("d.jsonl", '{"input": "x"}\n')
    folder.suite("dataset: d.jsonl", samples=False)
    suite = load_suite(folder.path / "suite.yaml")
    dataset = open_dataset(suite, Selection(limit=10**30))
    assert (dataset.count, len(list(dataset.samples()))) == (1, 1)
