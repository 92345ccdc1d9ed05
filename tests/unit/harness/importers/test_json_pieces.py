"""Files of JSON, piece by piece."""

import io
import json

import pytest

from harness.importers import json_pieces
from harness.importers.json_pieces import NoJsonError, read_pieces


def pieces(text):
    return [
        (one.number, one.line, one.item, one.value, one.ends)
        for one in read_pieces(io.BytesIO(text if isinstance(text, bytes) else text.encode()))
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" \n\t", []),
        ("12", [(0, 1, None, 12, True)]),
        ("\ufeff{}\n", [(0, 1, None, {}, True)]),
        ("[]", [(0, 1, None, [], True)]),
        ('[1, {"a": [2]}]', [(0, 1, 0, 1, False), (0, 1, 1, {"a": [2]}, True)]),
        ("\n[1\n]\n\n2", [(0, 2, 0, 1, False), (1, 5, None, 2, True)]),
        ('{"a": 1} [[]]', [(0, 1, None, {"a": 1}, False), (1, 1, 0, [], True)]),
    ],
)
def test_values_and_the_items_of_lists_come_one_by_one(text, found):
    assert pieces(text) == found


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
def test_where_the_file_is_cut_for_reading_changes_nothing(chunk, monkeypatch):
    values = [{"é": '\\"\u2028😀', "n": [-12.5e-3, True, None, 123456]}, "x" * 50, 987, [[], {}]]
    text = json.dumps(values, ensure_ascii=False, indent=1)
    text += json.dumps(values) + "\n17 " + json.dumps(values[1]) + " false"
    whole = pieces(text)
    assert [value for *_, value, _ in whole[:4]] == values
    monkeypatch.setattr(json_pieces, "_CHUNK", chunk)
    assert pieces(text) == whole


@pytest.mark.parametrize("chunk", [1, 5, 1_000])
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[1, 2", 1, "Expecting ',' delimiter, at column 6"),
        ("[1 2]", 1, "Expecting ',' delimiter, at column 4"),
        ("[1,]", 1, "Expecting value, at column 4"),
        ('{"a":\n\n nope, "b": "cccccccccccccccccccccccccccccccccccccc"}', 3, "Expecting value"),
        ('[{"a": 1},\n{"a": "b}]', 2, "Unterminated string starting at, at column 7"),
        ('[{"a": NaN}]', 1, "no JSON number: NaN"),
        ("[[" + "[" * 250 + "]" * 252, 1, "nested deeper than 200 levels"),
        ("nope", 1, "Expecting value, at column 1"),
        ("]", 1, "Expecting value"),
    ],
)
def test_damage_is_told_with_its_line(chunk, text, line, said, monkeypatch):
    monkeypatch.setattr(json_pieces, "_CHUNK", chunk)
    with pytest.raises(NoJsonError) as caught:
        pieces(text)
    assert caught.value.line == line
    assert said in str(caught.value)


@pytest.mark.parametrize("chunk", [1, 100])
@pytest.mark.parametrize("data", [b'["\xff"]', b'["a", "\xc3'])
def test_bytes_that_are_not_utf_8_are_refused(chunk, data, monkeypatch):
    monkeypatch.setattr(json_pieces, "_CHUNK", chunk)
    with pytest.raises(UnicodeDecodeError):
        pieces(data)


def test_what_is_lost_is_told_of_each_piece():
    found = [
        (one.losses.duplicates, one.losses.surrogates)
        for one in read_pieces(io.BytesIO(rb'[{"a": 1, "a": 2}, "\udfff"]{"b": 1}'))
    ]
    assert found == [(["a"], 0), ([], 1), ([], 0)]
