import csv
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness.loading.datasets import open_dataset
from harness.types.code import SuitePath
from harness.types.errors import DatasetError
from harness.types.suites import Suite


@pytest.fixture
def read(folder):
    def read(text):
        path = folder.write("d.csv", text)
        suite = Suite(name="s", dataset=SuitePath(text="d.csv", path=path))
        return list(open_dataset(suite).samples())

    return read


@pytest.mark.parametrize("cell", ["NO", "007", "None", "NA", "null", "1.10", "true", " x ", "1e3"])
def test_a_cell_is_the_text_that_was_written(read, cell):
    [sample] = read(f"id,input,ground_truth,color\n{cell},{cell},{cell},{cell}\n")
    assert (sample.id, sample.input, sample.ground_truth, sample.metadata["color"]) == (cell,) * 4


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('["a", "b"]', ("a", "b")),
        ('  ["a", "b"]  ', ("a", "b")),
        ("[0-9]", "[0-9]"),
        ("[a-z]+", "[a-z]+"),
        ("[1, 2]", "[1, 2]"),
        ('["a", 1]', '["a", 1]'),
        ("[]", "[]"),
        ("[not closed", "[not closed"),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_a_json_list_of_texts_is_a_list_and_everything_else_in_brackets_is_text(read, cell, value):
    quoted = cell.replace('"', '""')
    assert read(f'input\n"{quoted}"\n')[0].input == value


def test_an_empty_cell_is_absent_and_json_objects_are_read(read):
    text = 'id,input,ground_truth,metadata,agent_args,tags\n,x,,"{""a"": 1.10}",,\n'
    text += ',y,,,"{""b"": ""c""}","t, u"\n,z,,,,"[""v, w""]"\n'
    one, two, three = read(text)
    assert (one.id, one.ground_truth, one.metadata, one.tags) == ("0", None, {"a": 1.1}, ())
    assert (two.id, two.agent_args, two.tags) == ("1", {"b": "c"}, ("t", "u"))
    assert three.tags == ("v, w",)


def test_names_are_stripped_and_blank_rows_and_a_column_without_name_or_cells_are_no_matter(read):
    samples = read("id, input ,\r\na,x,\r\n\r\n,,\r\nb,y,\r\n")
    assert [(sample.id, sample.input) for sample in samples] == [("a", "x"), ("b", "y")]


def test_a_cell_may_be_longer_than_the_default_limit(read):
    assert len(read(f'input\n"{"x" * 300_000}"\n')[0].input) == 300_000


def test_line_separators_inside_of_cells_split_no_rows(read):
    assert [s.input for s in read('input\na\u2028b\u0085c\n"d\re\nf"\n')] == [
        "a\u2028b\u0085c",
        "d\re\nf",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "d.csv: the dataset holds no samples"),
        ("input\n", "d.csv: the dataset holds no samples"),
        ("\n\n", "d.csv: the dataset holds no samples"),
        ("id,question\na,b\n", 'd.csv:1: there is no column "input"; the first row names'),
        ("id,inputs\na,b\n", 'd.csv:1: there is no column "input"; is "inputs" meant for it?'),
        ("id;input\na;b\n", "the cells seem to be separated by a semicolon; use a comma"),
        ("id\tinput\na\tb\n", "the cells seem to be separated by a tab; use a comma"),
        ("input,input\na,b\n", 'd.csv:1: two columns are called "input"'),
        ("id,input\na\n", "d.csv:2: the row has 1 cells for 2 columns"),
        ("id,input\na,b,c\n", "d.csv:2: the row has 3 cells for 2 columns"),
        ("input,\na,b\n", "d.csv:2: column 2 has a cell but no name"),
        ('id,input\na,"b\n', "d.csv:2: a quoted cell of this row is never closed"),
        ('input\n"a"b\n', "d.csv:2: something follows the end of a quoted cell"),
        ("input\na\rb\n", "d.csv:2: a cell holds a bare carriage return"),
        ("input\na\0b\n", "d.csv:2:2: the file holds a NUL character"),
        ("id,input\na,\n", 'd.csv:2: input: "input" is missing'),
        ('input,metadata\na,"[1]"\n', "d.csv:2: metadata: the cell holds JSON that is no object"),
        ("input,metadata\na,{b\n", "d.csv:2: metadata: this is no JSON"),
        ('input,metadata\na,"{""b"": NaN}"\n', "d.csv:2: metadata: NaN is no JSON number"),
        ("id,input\na,b\na,c\n", 'd.csv:3: id: duplicate id: the id "a"; the other is on line 2'),
    ],
)
def test_a_broken_file_is_refused_with_the_line(read, text, expected):
    with pytest.raises(DatasetError) as caught:
        read(text)
    [fault] = caught.value.faults
    assert expected in str(fault)


def test_a_fault_names_the_physical_line_on_which_its_row_begins(read):
    text = 'id,input\r\na,"one\r\ntwo\r\n\r\nfour"\r\nb,\r\n\r\n"c","x\ny"\nd,\n'
    with pytest.raises(DatasetError) as caught:
        read(text)
    assert [fault.line for fault in caught.value.faults] == [6, 10]


def test_a_row_after_a_broken_one_is_still_checked(read):
    with pytest.raises(DatasetError) as caught:
        read('id,input\na,"x"y\nb\nc,z\nd,\n')
    assert [fault.line for fault in caught.value.faults] == [2, 3, 5]


@pytest.mark.parametrize("limit", [10, 2**31 + 5])
def test_cells_are_of_any_length_whatever_limit_the_process_has_set(read, limit):
    before = csv.field_size_limit(limit)
    try:
        [sample] = read(f"input\n{'x' * 200_000}\n")
        assert len(sample.input) == 200_000
        assert csv.field_size_limit() >= limit
    finally:
        csv.field_size_limit(before)


def test_datasets_that_are_read_at_once_in_threads_do_not_disturb_each_other(folder):
    before = csv.field_size_limit(10)

    def read(number):
        path = folder.write(f"{number}.csv", "input\n" + f"{'x' * 20_000}\n" * 20)
        suite = Suite(name="s", dataset=SuitePath(text=path.name, path=path))
        return sum(len(sample.input) for sample in open_dataset(suite).samples())

    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(read, range(8))) == [400_000] * 8
    finally:
        csv.field_size_limit(before)
