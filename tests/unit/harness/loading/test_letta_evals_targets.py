"""Targets of letta-evals: where their keys go, and what is refused."""

import pytest

from harness.loading.suite_files import load_suite
from harness.types.suites import Limits, Retries

CHAT = "kind: letta_agent, agent_id: agent-1"
CODE = "kind: letta_code"


@pytest.fixture
def load(folder):
    """Load a suite with a target."""

    def load(target, text=""):
        folder.suite(f"target: {{{target}}}\n{text}")
        return load_suite(folder.path / "suite.yaml")

    return load


@pytest.fixture
def faults(folder):
    """Give the faults of a suite with a target."""

    def faults(target, text=""):
        folder.suite(f"target: {{{target}}}\n{text}")
        return folder.faults()

    return faults


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("kind: agent, agent_id: a", "letta"),
        ("kind: letta_agent, agent_id: a", "letta"),
        ("kind: letta_code, model_handles: [m]", "letta_code"),
        ("model_handles: [m]", "letta_code"),
        ("models: [m], permission_mode: plan", "letta_code"),
    ],
)
def test_kinds_of_letta_evals_are_ours(load, target, kind):
    assert load(target).target.kind == kind


@pytest.mark.parametrize(
    ("target", "variable", "url"),
    [
        ("kind: agent", None, "http://localhost:8283"),
        ("kind: letta_agent", None, "http://localhost:8283"),
        ("kind: letta_agent, base_url: ~", None, "http://localhost:8283"),
        ("kind: agent", "https://letta.example", "https://letta.example"),
        ("kind: letta_agent", "https://letta.example", "https://letta.example"),
        ("kind: agent, base_url: http://other", "https://letta.example", "http://other"),
    ],
)
def test_old_kinds_look_for_a_server_on_this_machine(load, monkeypatch, target, variable, url):
    monkeypatch.delenv("LETTA_BASE_URL", raising=False)
    if variable:
        monkeypatch.setenv("LETTA_BASE_URL", variable)
    assert load(f"{target}, agent_id: a").target.target.base_url == url


@pytest.mark.parametrize(
    ("target", "limits", "retries"),
    [
        (f"{CHAT}, timeout: 12", Limits(trial_seconds=12, turn_seconds=None), Retries()),
        (f"{CHAT}, timeout: ~", Limits(trial_seconds=300, turn_seconds=None), Retries()),
        (
            f"{CHAT}, max_retries: 0",
            Limits(trial_seconds=300, turn_seconds=None),
            Retries(attempts=1),
        ),
        (
            f"{CHAT}, max_retries: 4",
            Limits(trial_seconds=300, turn_seconds=None),
            Retries(attempts=5),
        ),
        ("kind: letta, agent_id: a", Limits(), Retries()),
    ],
)
def test_time_limit_and_retries_are_those_of_the_run(load, target, limits, retries):
    suite = load(target)
    assert (suite.limits, suite.retries) == (limits, retries)


def test_native_limits_go_before_the_defaults_of_letta_evals(load):
    suite = load(CHAT, "limits: {turn_seconds: 7, concurrency: 2}")
    assert suite.limits == Limits(turn_seconds=7, concurrency=2)


def test_nulls_are_as_good_as_nothing(load):
    nulls = "base_url, api_key, project_id, agent_script, model_handles, flags, memory_dir"
    written = ", ".join(f"{name}: ~" for name in nulls.split(", "))
    more = "allowed_tools: ~, disallowed_tools: ~, skills_dir: ~, working_dir: ~, pricing: ~"
    suite = load(f"{CODE}, models: [m], {written}, {more}")
    assert suite.target.models == ("m",)


def test_prices_are_read_and_said_to_have_no_effect(load):
    suite = load("model_handles: [m], pricing: {m: some-model}")
    notes = {note.path: note.problem for note in suite.notes}
    assert "has no effect" in notes["target.pricing"]


@pytest.mark.parametrize(
    ("options", "works_in"),
    [
        ("", (".", False)),
        ("working_dir: ~, memory_workspace: false", (".", False)),
        ("sandbox: true", (".", True)),
        ("working_dir: desk", ("desk", True)),
        ("working_dir: desk, sandbox: false", ("desk", False)),
        ("files: .", (None, True)),
        ("memory_workspace: true", (None, True)),
    ],
)
def test_letta_code_works_in_the_folder_of_a_suite_that_names_no_other(load, options, works_in):
    suite = load(f"{CODE}, model_handles: [m], {options}")
    target = suite.target.target
    assert (target.working_dir, target.sandbox) == works_in
    told = [note for note in suite.notes if "in the suite's folder" in note.problem]
    assert bool(told) == (works_in[0] == ".")


def test_letta_code_of_our_own_suites_works_in_a_folder_of_each_trial(load):
    suite = load(f"{CODE}, models: [m]")
    assert suite.target.target.working_dir is None
    assert suite.notes == ()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("models: [m]", ()),
        ("model_handles: [m]", ("*",)),
        ("model_handles: [m], sample_env: [CLERK]", ("CLERK",)),
        ("model_handles: [m], sample_env: []", ()),
    ],
)
def test_samples_of_letta_evals_may_set_variables_unless_the_suite_names_some(load, options, names):
    assert load(f"{CODE}, {options}").target.target.sample_env == names


STATES = """
from letta_evals import extractor
import harness

@extractor
def whole(trajectory, config, agent_state) -> str:
    return agent_state.system

@extractor
def short(trajectory, config) -> str:
    return ""

@harness.extractor
def own(trajectory, agent_state):
    return ""
"""


@pytest.mark.parametrize(
    ("extractor", "more", "kept"),
    [
        ("states.py:whole", "", True),
        ("states.py:whole", ", keep_agent_state: false", False),
        ("states.py:short", "", False),
        ("states.py:own", "", False),
        ("memory_block, extractor_config: {block_label: a}", "", False),
    ],
)
def test_all_of_the_agents_state_is_stored_where_an_extractor_is_given_it(
    folder, extractor, more, kept
):
    folder.write("states.py", STATES)
    entry = f"kind: tool, function: contains, extractor: {extractor}"
    other = "b: {kind: tool, function: contains, extractor: 'states.py:short'}"
    graders = f"graders: {{a: {{{entry}}}, {other}}}\n"
    folder.suite(f"target: {{{CHAT}{more}}}\n{graders}", graders=False)
    suite = load_suite(folder.path / "suite.yaml")
    assert suite.target.target.keep_agent_state is kept


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        (f"{CHAT}, model_handles: []", "target.model_handles: found a list; at least 1 of them"),
        (
            f"{CHAT}, model_handles: [a, a]",
            'target.model_handles[1]: the model "a" is listed twice',
        ),
        (
            f"{CHAT}, model_handles: [3.5, '']",
            "target.model_handles[1]: this is no name of a model",
        ),
        (
            f"{CHAT}, model_handles: [a], models: [b]",
            "target.model_handles: `target.model_handles` and `target.models` are both given",
        ),
        (
            f"{CHAT}, model_handels: [a]",
            'unknown key "model_handels"; did you mean "model_handles"?',
        ),
        (f"{CHAT}, model_configs: [gpt-4]", "target.model_configs: the model configurations that"),
        (f"{CODE}, model_handles: ~", "no model is named; `models:` or `model_handles:` under"),
        (f"{CHAT}, timeout: 0", "target.timeout: found 0; more than 0"),
        (f"{CHAT}, timeout: soon", "target.timeout: found the text 'soon'; a number"),
        (f"{CHAT}, max_retries: -1", "target.max_retries: found -1; a whole number from 0 to 99"),
        (f"{CHAT}, max_retries: 1.5", "target.max_retries: found 1.5; a whole number from 0 to 99"),
        (f"{CHAT}, api_kye: x", 'target.api_kye: unknown key "api_kye"; did you mean "api_key"?'),
        (f"{CHAT}, flags: -x", 'target.flags: unknown key "flags"'),
        (
            f"{CHAT}, num_runs: 2",
            'target.num_runs: unknown key "num_runs"; it belongs one level up',
        ),
        ("kind: agentt, agent_id: a", 'target.kind: unknown kind of target "agentt"'),
        ("agent_id: a", '"kind" is missing'),
    ],
)
def test_a_mistake_is_one_fault_that_shows_the_key_as_it_was_written(faults, target, fault):
    (found,) = faults(target)
    assert fault in found


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "retries: {attempts: 2}",
            "target.max_retries: `target.max_retries` and `retries.attempts`",
        ),
        (
            "limits: {trial_seconds: 5}",
            "target.timeout: `target.timeout` and `limits.trial_seconds`",
        ),
        (
            "model_handles: [m]",
            'model_handles: unknown key "model_handles"; it belongs under `target`',
        ),
        ("setup_script: no.py:f", 'setup_script: there is no file "no.py"'),
    ],
)
def test_keys_that_mean_the_same_are_given_once_and_at_their_level(faults, text, fault):
    (found,) = faults(f"{CHAT}, timeout: 3, max_retries: 1", text)
    assert fault in found
