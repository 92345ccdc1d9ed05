import pytest

from harness.messages.google_stream import GoogleStream


def chunk(*parts, **fields):
    return {"candidates": [{"content": {"parts": list(parts)}, **fields}]}


def call(**fields):
    return {"functionCall": fields}


def piece(path, value, *, more=False):
    return {"jsonPath": path, "stringValue": value, **({"willContinue": True} if more else {})}


def arguments(*pieces):
    """Give the arguments of a call whose pieces come one a chunk, and whether all were read."""
    stream = GoogleStream()
    stream.add(chunk(call(name="f", willContinue=True)))
    done = [stream.add(chunk(call(partialArgs=[one], willContinue=True))) for one in pieces]
    stream.add(chunk(call()))
    (block,) = stream.reply()["content"]
    return block["input"], all(done)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([piece("$.a", "x")], {"a": "x"}),
        ([piece("$.a", "x", more=True), piece("$.a", "y")], {"a": "xy"}),
        ([piece("$.a", "x"), piece("$.a", "y")], {"a": "y"}),
        ([piece("$.a.b", "x"), piece("$.a['c d']", "y")], {"a": {"b": "x", "c d": "y"}}),
        ([piece("$.a[0]", "x"), piece("$.a[1].b", "y")], {"a": ["x", {"b": "y"}]}),
        ([{"jsonPath": "$.a", "nullValue": "NULL_VALUE"}], {"a": None}),
        ([{"jsonPath": "$.a", "boolValue": False}], {"a": False}),
    ],
)
def test_pieces_are_put_where_their_path_leads(pieces, expected):
    assert arguments(*pieces) == (expected, True)


@pytest.mark.parametrize(
    "path", ["a", "$", "", "$.a[9]", "$.a[99999]", "$..a", "$.a[", "$" + ".a" * 99, "$.x.y", 3]
)
def test_a_path_that_leads_nowhere_is_said_not_to_be_understood(path):
    found, understood = arguments(piece("$.x", "t"), piece(path, "v"))
    assert (found["x"], understood) == ("t", False)


def test_a_call_that_is_never_closed_is_not_whole():
    stream = GoogleStream()
    stream.add(chunk(call(name="f", willContinue=True)))
    assert stream.reply()["content"][0]["is_whole"] is False


def test_other_candidates_are_not_understood_and_the_first_counts():
    stream = GoogleStream()
    assert stream.add(chunk({"text": "a"}))
    assert not stream.add(chunk({"text": "b"}, index=1))
    assert stream.reply()["content"] == [{"type": "text", "text": "a"}]
