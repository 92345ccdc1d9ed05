"""Judges as letta-evals writes them."""

import pytest

from harness.loading.suite_files import load_suite


@pytest.fixture(autouse=True)
def with_a_key(monkeypatch):
    """Judges without a key are a fault of their own."""
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-a-test")


@pytest.mark.parametrize("kind", ["model_judge", "rubric"])
def test_a_judge_has_its_options_beside_those_of_the_entry(folder, kind):
    folder.write("tone.txt", "Is {submission} friendly?")
    folder.suite(
        f"graders: {{q: {{kind: {kind}, prompt_path: tone.txt, model: m, temperature: 0.5,"
        " max_retries: 3, timeout: 9, system_prompt: Be strict., display_name: Tone,"
        " extractor: pattern, extractor_config: {pattern: x}, threshold: 0.7}}",
        graders=False,
    )
    (spec,) = load_suite(folder.path / "suite.yaml").graders
    assert (spec.kind, spec.display_name, spec.threshold) == ("model_judge", "Tone", 0.7)
    judge = spec.grader
    assert (judge.model, judge.temperature, judge.max_retries) == ("m", 0.5, 3)
    assert (judge.timeout, judge.system_prompt, judge.prompt_path.text) == (
        9,
        "Be strict.",
        "tone.txt",
    )


def test_options_of_ours_may_stand_in_a_config_beside_them(folder):
    folder.suite(
        "graders: {q: {kind: model_judge, prompt: '{submission}?', config: {cache: false}}}",
        graders=False,
    )
    (spec,) = load_suite(folder.path / "suite.yaml").graders
    assert (spec.grader.prompt, spec.grader.cache) == ("{submission}?", False)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (
            "{kind: model_judge, promt: x}",
            'graders.q.promt: unknown key "promt"; did you mean "prompt"?',
        ),
        ("{kind: model_judge, prompt: x, model: 3.5}", None),
        ("{kind: model_judge, prompt: x, timeout: 0}", "graders.q.timeout: found 0; more than 0"),
        (
            "{kind: model_judge, prompt: x, provider: acme}",
            "graders.q.provider: found the text 'acme'",
        ),
        (
            "{kind: model_judge, prompt_path: no.txt}",
            'graders.q.prompt_path: there is no file "no.txt"',
        ),
        ("{kind: model_judge, prompt: x, function: contains}", "the entry names two graders"),
        (
            "{kind: rubrik, prompt: x}",
            'graders.q.kind: unknown kind of grader "rubrik"; did you mean',
        ),
        (
            "{kind: letta_judge, prompt: x}",
            "graders.q.kind: agents as judges (letta_judge) are not",
        ),
        (
            "{kind: rubric, prompt: x, agent_file: a.af, judge_tool_name: t}",
            "graders.q.agent_file: agents as judges (letta_judge) are not supported; write",
        ),
        ("{kind: model_judge, prompt: x, config: 3}", "graders.q.config: found 3; a mapping"),
    ],
)
def test_a_mistake_is_one_fault_at_the_key_as_it_was_written(folder, entry, fault):
    folder.suite(f"graders: {{q: {entry}}}", graders=False)
    found = folder.faults()
    assert len(found) == (fault is not None), found
    assert all(fault in one for one in found)


def test_a_row_may_have_a_judge_too(folder):
    folder.write(
        "d.jsonl",
        '{"input": "x", "graders": {"q": {"kind": "rubric", "prompt": "Is {submission} good?"}}}\n'
        '{"input": "x", "graders": {"q": {"kind": "rubric", "prompt_path": "d.jsonl"}}}\n',
    )
    folder.suite("dataset: d.jsonl", samples=False)
    (fault,) = folder.faults()
    assert "d.jsonl:2: graders.q.prompt_path: a dataset cannot name files" in fault
