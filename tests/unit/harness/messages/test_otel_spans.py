import pytest

from harness.messages.otel_spans import Span, is_span, read_spans

FLAT = {"trace_id": "t", "span_id": "s", "name": "x"}


@pytest.mark.parametrize(
    "start", [1927000000, 1927000000 * 10**3, 1927000000 * 10**6, str(1927000000 * 10**9)]
)
def test_the_unit_of_a_time_is_told_by_its_size(start):
    (span,) = read_spans({**FLAT, "start_time": start})
    assert span.start.isoformat() == "2031-01-24T05:46:40+00:00"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"status": {"code": "OK"}}, None),
        ({"status": {"code": 1}}, None),
        ({"status": {"code": 2, "message": "gone"}}, "gone"),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, "error"),
        ({"status": {"status_code": "ERROR", "description": "gone"}}, "gone"),
        ({"attributes": {"error.type": "Timeout"}}, "Timeout"),
        (
            {
                "status": {"code": "ERROR"},
                "events": [{"name": "exception", "attributes": {"exception.message": "no"}}],
            },
            "no",
        ),
        ({"status": 3}, None),
    ],
)
def test_a_span_says_why_it_failed(more, error):
    (span,) = read_spans({**FLAT, **more})
    assert span.error == error


def test_values_of_otlp_become_plain():
    rows = [
        {"key": "a", "value": {"intValue": "3"}},
        {"key": "b", "value": {"arrayValue": {"values": [{"boolValue": True}]}}},
        {"key": "c", "value": {"kvlistValue": {"values": [{"key": "d", "value": {}}]}}},
        {"key": "e", "value": {"stringValue": "x"}},
        {"key": 3, "value": 3},
        3,
    ]
    (span,) = read_spans({**FLAT, "attributes": rows})
    assert span.attributes == {"a": 3, "b": [True], "c": {"d": {}}, "e": "x"}


def test_what_is_no_span_is_given_back_as_it_is():
    value = {"resourceSpans": [3, {"scopeSpans": [{"spans": [FLAT, {"name": "x"}]}]}]}
    found = list(read_spans([value, "a"]))
    assert [type(one) for one in found] == [int, Span, dict, str]
    assert [is_span(one) for one in (value, FLAT, {"trace_id": "t"}, 3)] == [
        True,
        True,
        False,
        False,
    ]
