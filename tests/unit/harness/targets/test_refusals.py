import pytest

from harness.targets.refusals import Refusal, code_of_refusal, read_refusal
from harness.types.errors import POLICIES


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (
            {"error": {"message": "No.", "type": "t", "code": "c"}},
            Refusal(message="No.", words=("c", "t")),
        ),
        ({"message": "No.", "type": None}, Refusal(message="No.")),
        ({"error": "No."}, Refusal(message="No.")),
        ({"detail": "No."}, Refusal(message="No.")),
        ([{"error": {"message": "No.", "status": "S"}}], Refusal(message="No.", words=("S",))),
        ('{"error": {"message": "No."}}', Refusal(message="No.")),
        ("plain", Refusal(message="plain")),
        ("", Refusal(message="otherwise")),
        (None, Refusal(message="otherwise")),
        ([], Refusal(message="otherwise")),
        ({}, Refusal(message="otherwise")),
        ({"error": {"message": "No.", "code": 502}}, Refusal(status=502, message="No.")),
        ({"error": {"message": "No.", "code": "429"}}, Refusal(status=429, message="No.")),
        ("[" * 5000, Refusal(message="[" * 5000)),
    ],
)
def test_a_body_is_read_in_every_shape(body, refusal):
    assert read_refusal(body, otherwise="otherwise") == refusal


CONTEXT = "This model's maximum context length is 8192 tokens. However, you requested 9000."
FILTERED = "The response was filtered due to Azure OpenAI's content management policy."


@pytest.mark.parametrize(
    ("status", "word", "message", "code"),
    [
        (400, "", "x", "bad_request"),
        (405, "", "x", "bad_request"),
        (422, "invalid_request_error", "x", "bad_request"),
        (400, "context_length_exceeded", "x", "context_length"),
        (400, "", CONTEXT, "context_length"),
        (400, "", "prompt is too long: 9 tokens > 8 maximum", "context_length"),
        (413, "", "Please reduce the length of the messages", "context_length"),
        (413, "", "Payload too large", "bad_request"),
        (400, "content_filter", "x", "content_filter"),
        (400, "ResponsibleAIPolicyViolation", "x", "content_filter"),
        (400, "", FILTERED, "content_filter"),
        (403, "", "Your input was flagged", "content_filter"),
        (400, "", "Your credit balance is too low", "quota_exhausted"),
        (400, "INVALID_ARGUMENT", "API key not valid.", "unauthorized"),
        (401, "", "x", "unauthorized"),
        (402, "", "x", "quota_exhausted"),
        (403, "", "x", "forbidden"),
        (404, "", "x", "not_found"),
        (408, "", "x", "connection_lost"),
        (409, "", "x", "server_error"),
        (429, "", "x", "rate_limited"),
        (429, "tokens", "Rate limit: too many tokens per minute", "rate_limited"),
        (429, "insufficient_quota", "x", "quota_exhausted"),
        (429, "billing_hard_limit_reached", "x", "quota_exhausted"),
        (500, "", "x", "server_error"),
        (500, "", CONTEXT, "server_error"),
        (500, "content_filter", "x", "server_error"),
        (500, "overloaded_error", "x", "overloaded"),
        (503, "", "x", "overloaded"),
        (520, "", "x", "server_error"),
        (529, "", "x", "overloaded"),
        (302, "", "x", "bad_reply"),
        (0, "", "x", "server_error"),
        (0, "rate_limit_exceeded", "x", "rate_limited"),
        (0, "", CONTEXT, "context_length"),
    ],
)
def test_a_refusal_has_the_code_of_its_word_its_text_or_its_status(status, word, message, code):
    words = (word,) if word else ()
    found = code_of_refusal(Refusal(status=status, message=message, words=words))
    assert found == code
    assert found in POLICIES
