import pytest

from harness.endpoints.keys import find_key, is_loopback
from harness.types.errors import TargetError

FAR = "https://models.example/v1"
NEAR = "http://127.0.0.1:8000/v1"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("FIRST_KEY", "SECOND_KEY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_the_first_variable_that_is_set_holds_the_key(environment):
    environment.setenv("SECOND_KEY", " k2 \n")
    assert find_key(("FIRST_KEY", "SECOND_KEY"), url=FAR, option="api_key_env") == "k2"
    environment.setenv("FIRST_KEY", "k1")
    assert find_key(("FIRST_KEY", "SECOND_KEY"), url=NEAR, option="api_key_env") == "k1"


def test_an_endpoint_on_loopback_needs_no_key():
    assert find_key(("FIRST_KEY",), url=NEAR, option="api_key_env") is None


@pytest.mark.parametrize("url", [None, FAR])
def test_a_missing_key_names_every_variable_and_the_option(url):
    with pytest.raises(TargetError, match="FIRST_KEY or SECOND_KEY is not set") as caught:
        find_key(("FIRST_KEY", "SECOND_KEY"), url=url, option="target.api_key_env")
    assert caught.value.code == "unauthorized"
    assert "target.api_key_env" in caught.value.hint


@pytest.mark.parametrize("value", ["kéy", "a\nb", "k\x00"[:1] + "\x7f"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(environment, value):
    environment.setenv("FIRST_KEY", value)
    with pytest.raises(TargetError, match="invalid in a key") as caught:
        find_key(("FIRST_KEY",), url=FAR, option="api_key_env")
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://localhost:1/v1", True),
        ("http://agent.localhost/v1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8000/v1", True),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example/v1", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_the_host(url, near):
    assert is_loopback(url) is near
