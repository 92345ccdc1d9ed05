import pytest

from harness.system.redaction import redact


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("https://user:p4ss@host.invalid/v1", "p4ss"),
        ("https://host.invalid/v1?api_key=QQ-1", "QQ-1"),
        ("https://host.invalid/v1?x=1&access_token=QQ-1&y=2", "QQ-1"),
        ("Authorization: Bearer QQ-1", "QQ-1"),
        ("{'headers': {'authorization': 'Bearer QQ-1'}}", "QQ-1"),
        ('{"x-api-key": "QQ-1"}', "QQ-1"),
        ('{\\"api_key\\": \\"QQ-1\\"}', "QQ-1"),
        ("password=QQ-1;", "QQ-1"),
        ("Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("Incorrect API key provided: sk-proj-abcd1234", "abcd1234"),
    ],
)
def test_what_stands_where_keys_stand_is_taken_out(text, hidden):
    assert hidden in text
    assert hidden not in redact(text)
    assert "[redacted]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "POST https://host.invalid/v1/chat/completions: 500 boom",
        "maximum context length is 8192 tokens",
        "token limit reached",
        "a@b.invalid wrote",
        "",
    ],
)
def test_other_text_stays(text):
    assert redact(text) == text


def test_known_values_are_taken_out_wherever_they_stand():
    assert redact("x canary-9f3a y canary-9f3a", ["canary-9f3a"]) == "x [redacted] y [redacted]"


def test_a_value_inside_another_does_not_leave_its_rest():
    assert redact("canary-long", ["canary", "canary-long"]) == "[redacted]"


def test_a_short_value_is_no_secret():
    assert redact("the cat", ["cat"]) == "the cat"


@pytest.mark.parametrize("name", ["SOME_API_KEY", "TOKEN", "DB_PASSWORD", "MY_SECRET", "APIKEY"])
def test_values_of_variables_that_are_called_like_secrets_are_taken_out(name, monkeypatch):
    monkeypatch.setenv(name, "canary-9f3a")
    assert redact("x canary-9f3a") == "x [redacted]"


def test_values_of_other_variables_stay(monkeypatch):
    monkeypatch.setenv("SOME_KEYBOARD", "canary-9f3a")
    assert redact("x canary-9f3a") == "x canary-9f3a"


def test_a_long_hostile_text_is_redacted_at_once():
    for unit in ("://", "api_key=", "bearer ", "sk-a", "token" + " " * 50):
        redact(unit * 20_000)
