"""Secrets in the text of a suite, which a run directory keeps."""

import pytest
import yaml

from harness.documents.yaml_secrets import redact_yaml
from harness.system.secret_values import SHOWN

KEY = "pass-4f7d0c1e-word"


@pytest.mark.parametrize(
    "text",
    [
        f"key: {KEY}\nb: 1\n",
        f"key: '{KEY}' # the key\nb: 1\n",
        'key: "pass-\\x34f7d0c1e-word"\nb: 1\n',
        '{"key": "\\u0070ass-4f7d0c1e-word", "b": 1}',
        'key: "pass-4f7d0c\\\n  1e-word"\nb: 1\n',
        "key: >-\n  pass-4f7d0c1e-word\nb: 1\n",
        'ü: 😀\nkey: &k "\\x70ass-4f7d0c1e-word"\nagain: *k\nb: 1\n',
    ],
)
def test_a_key_is_taken_out_however_it_is_written(text):
    assert yaml.safe_load(text)["key"] == KEY
    shown = redact_yaml(text, [KEY])
    assert SHOWN in shown
    assert KEY not in str(yaml.safe_load(shown))
    assert yaml.safe_load(shown)["b"] == 1


def test_only_what_holds_it_is_replaced():
    text = f'a: "\\x41"\nb: "see {KEY}, \\x41"\nc: "see pass-\\x34f7d0c1e-word, A"\n'
    read = yaml.safe_load(redact_yaml(text, [KEY]))
    assert read == {"a": "A", "b": f"see {SHOWN}, A", "c": SHOWN}


@pytest.mark.parametrize("text", ["", "a: [", "plain", "a: \tb"])
def test_a_text_without_secrets_stays_as_it_is(text):
    assert redact_yaml(text, [KEY]) == text
    assert redact_yaml(text, []) == text
