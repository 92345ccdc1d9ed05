import pytest

from harness.system.variables import VariableError, fill_variables

ENVIRON = {"KEY": "k-1", "EMPTY": "", "NESTED": "${KEY}"}


@pytest.mark.parametrize(
    ("text", "filled", "values"),
    [
        ("Bearer ${KEY}", "Bearer k-1", ["k-1"]),
        ("${KEY}${KEY}", "k-1k-1", ["k-1", "k-1"]),
        ("${UNSET:-other}", "other", []),
        ("${EMPTY:-other}", "other", []),
        ("${KEY:-other}", "k-1", ["k-1"]),
        ("${EMPTY}", "", [""]),
        ("${NESTED}", "${KEY}", ["${KEY}"]),
        ("$${KEY} $KEY {{KEY}}", "${KEY} $KEY {{KEY}}", []),
    ],
)
def test_variables_are_filled_in_once_and_their_values_are_told(text, filled, values):
    told = []
    assert fill_variables(text, ENVIRON, on_value=told.append) == filled
    assert told == values


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("${UNSET}", "the environment variable UNSET is not set; set it, or write ${UNSET:-de"),
        ("${not a name}", "`${` begins no variable; write ${NAME}"),
    ],
)
def test_what_cannot_be_filled_in_says_what_can_be_done(text, problem):
    with pytest.raises(VariableError) as raised:
        fill_variables(text, ENVIRON)
    assert str(raised.value).startswith(problem)
