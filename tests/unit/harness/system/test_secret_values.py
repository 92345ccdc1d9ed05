import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import msgspec
import pytest

from harness.system.secret_values import SHOWN, Secrets, says_secret, secrets_in

KEY = 'ca/na+ry "9f3a" ü'


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "APIKEY",
        "MY_SECRET",
        "SECRET_KEY_BASE",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "GITHUB_TOKEN_READONLY",
        "AUTHTOKEN",
        "TOK_A",
        "PGPASSWORD",
        "DB_PASS",
        "DB_PASSWD",
        "DB_PWD",
        "SSH_PASSPHRASE",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "dbPassword",
        "npm_config_token",
    ],
)
def test_a_variable_that_is_called_like_a_secret_holds_one(name):
    assert says_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "PWD",
        "OLDPWD",
        "SOME_KEYBOARD",
        "MONKEY",
        "MAX_TOKEN",
        "TOKEN_LIMIT",
        "MAX_TOKENS",
        "TOKENIZERS_PARALLELISM",
        "COMPASS",
        "BYPASS_CACHE",
    ],
)
def test_other_variables_hold_none(name):
    assert not says_secret(name)


def test_what_only_switches_something_is_no_secret():
    assert list(secrets_in({"USE_TOKEN": "Enabled", "A_TOKEN": "canary-9f3a"})) == ["canary-9f3a"]


def _spelt():
    plain = KEY.encode()
    yield KEY
    yield json.dumps({"k": KEY})
    yield json.dumps({"k": KEY}, ensure_ascii=False)
    yield json.dumps(json.dumps({"k": KEY}))
    yield f"https://host.invalid/?k={quote(KEY)}&z=1"
    yield f"https://host.invalid/?k={quote(KEY, safe='')}"
    yield "https://host.invalid/?k=ca%2fna%2bry%20%229f3a%22%20%c3%bc"
    yield f"k={quote_plus(KEY)}"
    for user in (b"", b"a:", b"ab:", b"abc:"):
        yield f"Basic {base64.b64encode(user + plain).decode()} end"
        yield f"Basic {base64.urlsafe_b64encode(user + plain + b':x').decode()} end"


@pytest.mark.parametrize("text", list(_spelt()))
def test_a_secret_is_found_in_every_spelling(text):
    secrets = Secrets([KEY])
    hidden = secrets.hide(text)
    assert SHOWN in hidden
    assert secrets.hide(hidden) == hidden
    assert secrets.are_in(msgspec.json.encode({"text": text}))
    assert not secrets.are_in(msgspec.json.encode({"text": hidden}))
    for word in ("ca/na", "ca%2", "9f3a", "Y2EvbmE"):
        assert word not in hidden


SIGNS = "k/e+y&<>='\"\\9f3a-ü"
"""A key with every character that some library writes as an escape."""


def _go(text):
    return re.sub("[&<>+]", lambda sign: f"\\u{ord(sign.group()):04x}", json.dumps(text))


def _dotnet(text):
    return re.sub("[&<>+'ü]", lambda sign: f"\\u{ord(sign.group()):04X}", json.dumps(text))


def _php(text):
    return json.dumps(text).replace("/", "\\/")


def _jinja(text):
    return html.escape(text).replace("+", "&#43;").replace("'", "&#39;").replace("=", "&#x3D;")


def _slashed(text):
    return html.escape(text).replace("/", "&#x2F;").replace("+", "&#x2b;")


def _spelt_out(text):
    return "".join(f"\\u{ord(sign):04x}" for sign in text)


WRITERS = [json.dumps, _go, _dotnet, _php, html.escape, _jinja, _slashed, quote, repr, _spelt_out]


@pytest.mark.parametrize("inner", [str, *WRITERS])
@pytest.mark.parametrize("outer", [str, *WRITERS])
def test_a_secret_is_found_by_whatever_it_was_written_and_written_once_more(inner, outer):
    secrets = Secrets([SIGNS])
    text = f"before {outer(inner(SIGNS))} after"
    hidden = secrets.hide(text)
    assert re.fullmatch(r"before \W{0,4}\[redacted\]\W{0,4} after", without_quotes(hidden)), hidden
    assert secrets.are_in(msgspec.json.encode({"text": text}))
    assert secrets.are_in(msgspec.json.encode({text: [1]}))
    assert not secrets.are_in(msgspec.json.encode({"text": hidden}))


def without_quotes(text):
    return re.sub(r"&quot;|&#x27;|%22|\\u002[27]|&amp;quot;|%27|\\", "", text)


@pytest.mark.parametrize("key", ["/+/+/+/+", "üüü/äää", "a/b+c&d<e"])
@pytest.mark.parametrize("write", WRITERS)
def test_a_secret_without_letters_in_a_row_is_found_too(key, write):
    assert Secrets([key]).stand_in(write(key))


def test_base64_in_json_is_found_too():
    word = base64.b64encode(b"??>>canary-9f3a??>>??").decode()
    assert "/" in word
    secrets = Secrets(["??>>canary-9f3a??>>??"])
    assert secrets.hide(_php(word)) == f'"{SHOWN}"'


@pytest.mark.parametrize(
    "text",
    ["", "canary", "\\u0063anary-9f3b", "canary\\u002d9f3b", "%63anary", "&amp;canary&#", "\\"],
)
def test_a_text_that_only_looks_like_it_is_left_as_it_is(text):
    secrets = Secrets(["canary-9f3a"])
    assert secrets.hide(text) == text
    assert not secrets.are_in(msgspec.json.encode([text]))


def test_the_user_name_beside_a_secret_in_base64_is_hidden_with_it():
    word = base64.b64encode(b"someone:canary-9f3a-secret").decode()
    assert Secrets(["canary-9f3a-secret"]).hide(f"Basic {word}, x") == f"Basic {SHOWN}, x"


def test_secrets_that_overlap_are_hidden_together():
    assert Secrets(["abcdef", "defghi", "abcdefg"]).hide("-abcdefghi-") == f"-{SHOWN}-"


def test_the_lines_of_a_long_key_are_secrets_themselves():
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    key = f"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----\n"
    secrets = Secrets([key])
    assert secrets.hide(f"  {line}") == f"  {SHOWN}"
    assert secrets.hide("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"


@pytest.mark.parametrize("value", ["", "cat", "  cat  ", "redacted", "[redacted]"])
def test_a_value_that_cannot_be_told_apart_is_not_looked_for(value):
    assert not Secrets([value])


def test_keys_of_a_value_are_looked_at():
    hidden = Secrets(["canary-9f3a"]).hide_json({"canary-9f3a": [1, "x canary-9f3a", None]})
    assert hidden == {SHOWN: [1, f"x {SHOWN}", None]}


def test_a_long_hostile_text_is_looked_at_at_once():
    core = base64.b64encode(b"canary-9f3a").decode()[:14]
    secrets = Secrets(["canary-9f3a", "aaaaaa"])
    for text in (
        core * 50_000,
        "a" * 500_000,
        "canary-9f3" * 50_000,
        "canary-" + "\\&%&amp;" * 50_000,
    ):
        assert len(secrets.hide(text)) <= len(text)
