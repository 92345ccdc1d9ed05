import pytest

from graders.judge_providers import PROVIDERS

NAMES = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_BASE_URL")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("openai", None),
        ("anthropic", "https://api.anthropic.com/v1/"),
        ("google", "https://generativelanguage.googleapis.com/v1beta/openai/"),
    ],
)
def test_each_provider_has_its_own_compatible_endpoint(provider, url):
    assert PROVIDERS[provider].address() == url


@pytest.mark.parametrize(
    ("provider", "name", "value", "url"),
    [
        ("openai", "OPENAI_BASE_URL", "http://h/v1", "http://h/v1"),
        ("openai", "OPENAI_BASE_URL", "http://h", "http://h"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://proxy", "https://proxy/v1/"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://proxy/", "https://proxy/v1/"),
        ("anthropic", "ANTHROPIC_BASE_URL", "https://proxy/x/v1", "https://proxy/x/v1"),
        ("google", "GEMINI_BASE_URL", "https://proxy", "https://proxy/v1beta/openai/"),
        ("google", "GOOGLE_BASE_URL", "https://proxy/a/", "https://proxy/a/"),
        ("google", "GOOGLE_BASE_URL", "  ", PROVIDERS["google"].url),
    ],
)
def test_the_environment_overrides_the_address(environment, provider, name, value, url):
    environment.setenv(name, value)
    assert PROVIDERS[provider].address() == url
