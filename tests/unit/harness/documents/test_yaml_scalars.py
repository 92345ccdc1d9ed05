import pytest

from harness.documents.yaml_scalars import resolve_scalar


@pytest.mark.parametrize(
    "text",
    [
        *("NO", "no", "on", "Off", "y", "12:30:00", "2031-02-03", "1_000", "0b1", ".inf", ".nan"),
        *("1.2.3", "1e999", "9" * 5000, "0o8", "+", "-", ".", "1e", "0x", "True ", "nULL"),
    ],
)
def test_what_yaml_1_2_takes_for_a_text_is_one(text):
    assert resolve_scalar(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("0o17", 15),
        ("0xff", 255),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.0E-2", -0.01),
    ],
)
def test_numbers_truth_values_and_null_are_resolved(text, value):
    found = resolve_scalar(text)
    assert (found, type(found)) == (value, type(value))
