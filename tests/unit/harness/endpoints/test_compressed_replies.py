"""Compressed replies are decoded piece by piece, whatever they stand for."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.endpoints.compressed_replies import PIECE_BYTES, Inflater, inflated
from harness.types.errors import TargetError

ENCODERS = {
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "deflate": zlib.compress,
    "identity": bytes,
    "identity, gzip": gzip.compress,
    "": bytes,
}


def inflater(encoding="gzip"):
    return Inflater({"content-encoding": encoding})


def read(data, encoding="gzip", size=7):
    made = inflater(encoding)
    parts = [p for i in range(0, len(data), size) for p in made.feed(data[i : i + size])]
    made.end()
    return b"".join(parts)


@pytest.mark.parametrize("encoding", ENCODERS)
@given(data=st.binary(max_size=300), times=st.integers(1, 2_000), size=st.integers(1, 5_000))
def test_what_was_sent_is_what_is_read(encoding, data, times, size):
    assert read(ENCODERS[encoding](data * times), encoding, size) == data * times


@given(st.lists(st.binary(max_size=50), min_size=1), st.integers(0, 9), st.integers(1, 99))
def test_a_reply_may_have_several_parts_and_zeros_behind(parts, zeros, size):
    sent = b"".join(map(gzip.compress, parts)) + b"\0" * zeros
    assert read(sent, size=size) == b"".join(parts)


def test_no_piece_is_long_whatever_it_stands_for():
    bomb = gzip.compress(bytes(50_000_000))
    lengths = [len(part) for part in inflater().feed(bomb)]
    assert sum(lengths) == 50_000_000
    assert max(lengths) <= PIECE_BYTES


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip,deflate", "br", "zstd", "x", "gzip, br"])
def test_other_encodings_are_refused_and_so_are_several(encoding):
    with pytest.raises(ValueError, match="gzip was asked for"):
        inflater(encoding)


async def raw(*parts):
    for part in parts:
        yield part


async def read_all(data, encoding="gzip"):
    headers = {"content-encoding": encoding}
    return [part async for part in inflated(raw(data), headers, "POST http://a/b")]


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        pytest.param(b"no gzip", "gzip", id="no gzip"),
        pytest.param(gzip.compress(b"x") + b"more", "gzip", id="more after the end"),
        pytest.param(b"x", "gzip, gzip", id="twice"),
    ],
)
async def test_what_cannot_be_decoded_is_a_bad_reply_to_its_request(data, encoding):
    with pytest.raises(TargetError, match=r"^POST http://a/b: the reply ") as caught:
        await read_all(data, encoding)
    assert caught.value.code == "bad_reply"


async def test_a_reply_that_ends_amid_its_data_was_cut():
    with pytest.raises(ConnectionError, match="amid"):
        await read_all(gzip.compress(b"whole" * 100)[:-9])
    assert await read_all(b"") == []
