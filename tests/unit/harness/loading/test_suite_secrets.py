import pytest

from harness.loading.target_files import with_target
from harness.types.errors import SuiteError
from harness.types.suites import Suite

KEY = "canary-9f3a-secret"


def _suite(folder, **more):
    document = {
        "name": "s",
        "samples": [{"input": "Hi"}],
        "target": {"kind": "openai", "models": ["m"], "api_key_env": "MY_ACCESS"},
        "graders": {"g": {"type": "exit-success"}},
        **more,
    }
    return Suite.from_mapping(document, folder=folder)


def test_the_variables_that_a_suite_names_hold_secrets(tmp_path, monkeypatch):
    monkeypatch.setenv("CUSTOMER", KEY)
    assert KEY in _suite(tmp_path, secrets=["CUSTOMER"]).secrets


def test_a_variable_that_a_target_or_judge_takes_its_key_from_holds_a_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_ACCESS", KEY)
    monkeypatch.setenv("JUDGE_ACCESS", "canary-of-judge")
    judge = {
        "kind": "model_judge",
        "model": "gpt-x",
        "prompt": "Is {submission} right?",
        "api_key_env": "JUDGE_ACCESS",
    }
    assert set(_suite(tmp_path, graders={"j": judge}).secrets) == {KEY, "canary-of-judge"}


def test_the_key_of_a_target_in_another_file_is_a_secret(tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_ACCESS", KEY)
    other = tmp_path / "target.yaml"
    other.write_text("{kind: openai, models: [m], api_key_env: OTHER_ACCESS}\n", encoding="utf-8")
    assert KEY in with_target(_suite(tmp_path), other).secrets


@pytest.mark.parametrize(
    ("value", "problem"), [(None, "CUSTOMER is not set"), ("abc", "CUSTOMER is too short")]
)
def test_a_variable_without_a_secret_is_noted(tmp_path, monkeypatch, value, problem):
    monkeypatch.delenv("CUSTOMER", raising=False)
    if value is not None:
        monkeypatch.setenv("CUSTOMER", value)
    (note,) = _suite(tmp_path, secrets=["CUSTOMER"]).notes
    assert problem in str(note)
    assert note.path == "secrets[0]"


def test_secrets_are_names_and_a_list_of_them(tmp_path):
    with pytest.raises(SuiteError, match="secrets"):
        _suite(tmp_path, secrets="CUSTOMER")
