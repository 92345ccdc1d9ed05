import pytest

from harness.endpoints.error_bodies import ErrorBody, code_of_error, read_error_body
from harness.types.errors import POLICIES


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            {"error": {"message": "No.", "type": "t", "code": "c"}},
            ErrorBody(message="No.", words=("c", "t")),
        ),
        ({"message": "No.", "type": None}, ErrorBody(message="No.")),
        ({"error": "No."}, ErrorBody(message="No.")),
        ({"detail": "No."}, ErrorBody(message="No.")),
        ([{"error": {"message": "No.", "status": "S"}}], ErrorBody(message="No.", words=("S",))),
        ('{"error": {"message": "No."}}', ErrorBody(message="No.")),
        ("plain", ErrorBody(message="plain")),
        ("", ErrorBody(message="otherwise")),
        (None, ErrorBody(message="otherwise")),
        ([], ErrorBody(message="otherwise")),
        ({}, ErrorBody(message="otherwise")),
        ({"error": {"message": "No.", "code": 502}}, ErrorBody(status=502, message="No.")),
        ({"error": {"message": "No.", "code": "429"}}, ErrorBody(status=429, message="No.")),
        ("[" * 5000, ErrorBody(message="[" * 5000)),
    ],
)
def test_a_body_is_read_in_every_shape(body, error):
    assert read_error_body(body, otherwise="otherwise") == error


CONTEXT = "This model's maximum context length is 8192 tokens. However, you requested 9000."
FILTERED = "The response was filtered due to Azure OpenAI's content management policy."


def code_of(status, *words, message="x"):
    code = code_of_error(ErrorBody(status=status, message=message, words=words))
    assert code in POLICIES
    return code


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"),
        (405, "bad_request"),
        (422, "bad_request"),
        (401, "unauthorized"),
        (402, "quota_exhausted"),
        (403, "forbidden"),
        (404, "not_found"),
        (408, "connection_lost"),
        (409, "server_error"),
        (429, "rate_limited"),
        (500, "server_error"),
        (520, "server_error"),
        (503, "overloaded"),
        (529, "overloaded"),
        (302, "bad_reply"),
        (0, "server_error"),
    ],
)
def test_a_status_alone_decides(status, code):
    assert code_of(status) == code


@pytest.mark.parametrize(
    ("status", "word", "code"),
    [
        (422, "invalid_request_error", "bad_request"),
        (400, "context_length_exceeded", "context_length"),
        (400, "content_filter", "content_filter"),
        (400, "ResponsibleAIPolicyViolation", "content_filter"),
        (429, "insufficient_quota", "quota_exhausted"),
        (429, "billing_hard_limit_reached", "quota_exhausted"),
        (500, "overloaded_error", "overloaded"),
        (500, "content_filter", "server_error"),
        (0, "rate_limit_exceeded", "rate_limited"),
    ],
)
def test_a_word_goes_before_the_status_unless_the_server_broke(status, word, code):
    assert code_of(status, word) == code


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, CONTEXT, "context_length"),
        (400, "prompt is too long: 9 tokens > 8 maximum", "context_length"),
        (413, "Please reduce the length of the messages", "context_length"),
        (413, "Payload too large", "bad_request"),
        (400, FILTERED, "content_filter"),
        (403, "Your input was flagged", "content_filter"),
        (400, "Your credit balance is too low", "quota_exhausted"),
        (400, "API key not valid.", "unauthorized"),
        (429, "Rate limit: too many tokens per minute", "rate_limited"),
        (500, CONTEXT, "server_error"),
        (0, CONTEXT, "context_length"),
    ],
)
def test_a_text_decides_where_the_request_was_refused(status, message, code):
    assert code_of(status, message=message) == code
    assert code_of(status, "UNKNOWN_WORD", message=message) == code
