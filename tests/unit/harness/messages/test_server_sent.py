import pytest

from harness.messages.server_sent import EventData

TWO = ['{"a": "x\u2028y\x85"}', "[DONE]"]


def read(*pieces):
    events = EventData()
    found = [text for piece in pieces for text in events.feed(piece)]
    return [*found, *events.end()]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_events_are_read_whatever_ends_their_lines(line_end):
    data = line_end.join(f"data: {text}{line_end}" for text in TWO).encode()
    assert read(data + line_end.encode()) == TWO


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_events_may_arrive_byte_by_byte(line_end):
    data = "".join(f"data: {text}{line_end}{line_end}" for text in TWO).encode()
    assert read(*(bytes([byte]) for byte in data)) == TWO


def test_comments_and_other_fields_say_nothing():
    data = b": keep-alive\n\nevent: x\nid: 5\nretry: 10\n\ndata:a\n\ndata: b\n\n"
    assert read(data) == ["a", "b"]


def test_several_lines_of_data_are_one_text():
    assert read(b"data: a\r\ndata: b\r\n\r\n") == ["a\nb"]


def test_the_last_event_needs_no_blank_line():
    assert read(b"data: a\n\ndata: b") == ["a", "b"]
    assert read(b"") == []


def test_bytes_that_are_no_unicode_are_replaced():
    assert read(b"data: a\xff\n\n") == ["a\ufffd"]


def test_a_long_line_in_many_pieces_is_joined_once():
    pieces = [b"data: ", *[b"x" * 100] * 100_000, b"\r", b"\r", b"data: y\n\n"]
    first, second = read(*pieces)
    assert (len(first), second) == (10_000_000, "y")
