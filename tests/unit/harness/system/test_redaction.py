import pytest

from harness.system.redaction import redact, redact_json, redacted_line


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
    "key",
    [
        "AB1\\/QQ-1",
        "AB1\\\\/QQ-1",
        "AB1\\u0026QQ-1",
        "AB1\\u003cQQ-1",
        "AB1\\u002BQQ-1",
        "AB1\\\\u002BQQ-1",
        "AB1&#x2F;QQ-1",
        "AB1&#47;QQ-1",
    ],
)
@pytest.mark.parametrize(
    "around",
    [
        '{{"authorization": "Bearer {}"}}',
        '{{"x-api-key": "{}", "a": 1}}',
        '{{\\"api_key\\": \\"{}\\"}}',
        "token={} end",
        "Basic {}",
    ],
)
def test_a_key_with_escapes_is_taken_out_to_its_end_and_no_further(key, around):
    assert redact(around.format(key)) == around.format("[redacted]")


def test_html_signs_are_part_of_a_bearers_key():
    assert redact("Bearer AB1&amp;QQ-1&quot;") == "Bearer [redacted];"


@pytest.mark.parametrize("slashes", ["//", "\\/\\/", "\\\\/\\\\/"])
def test_urls_are_recognised_with_escaped_slashes_too(slashes):
    assert "QQ-1" not in redact(f"https:{slashes}user:QQ-1@host.invalid/v1")
    assert "QQ-1" not in redact(f"https:{slashes}host.invalid\\/v1?k=QQ-1")


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("base_url: https://h.invalid/v1?key=QQ-1\n", "https://h.invalid/v1?key=[redacted]\n"),
        ("(see https://h.invalid/?a=QQ&b=QQ).", "https://h.invalid/?a=[redacted]&b=[redacted])."),
        ('"https://h.invalid/v1?QQ"', '"https://h.invalid/v1?[redacted]"'),
        ("https://h.invalid/v1? QQ", "https://h.invalid/v1? QQ"),
        ("{base_url: https://h.invalid/v1?k=Q,x}", "https://h.invalid/v1?k=[redacted]}"),
    ],
)
def test_the_values_of_a_query_are_taken_out(text, shown):
    assert redact(text).endswith(shown)


@pytest.mark.parametrize("before", [*range(85, 101), 390, 1_395, 1_399, 1_401])
@pytest.mark.parametrize("times", [1, 400])
def test_no_half_of_a_secret_is_left_where_a_text_is_cut(before, times):
    secret = "canary-9f3a-secret"
    shown = redacted_line("x" * before + secret * times, 100, [secret])
    assert "canary" not in shown
    assert len(shown) <= 100


def test_a_text_that_was_cut_says_so():
    secret = "canary-9f3a-secret"
    assert redacted_line(secret * 20_000, 5_000, [secret]).endswith("…")
    assert redacted_line("short", 100) == "short"


def test_every_text_of_a_json_value_is_redacted():
    value = {"canary-9f3a": ["a canary-9f3a", 5, None, {"b": "canary-9f3a"}]}
    hidden = {"[redacted]": ["a [redacted]", 5, None, {"b": "[redacted]"}]}
    assert redact_json(value, ["canary-9f3a"]) == hidden
