"""Records of other tools as their owners use them: graded, converted, exported, graded again."""

import csv
import json
import random
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from fakes.ran_commands import regrade
from fakes.record_files import SUITE, chat, write_lines

import harness
from harness.types.events import AssistantMessage

QUICKSTART = Path(__file__).parents[2] / "suites" / "quickstart"
RELEASE = re.compile(r"rt_[0-9a-f]{16}")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    return tmp_path


def runs(folder):
    return sorted((folder / "runs").glob("[!.]*"))


def trials(folder):
    return [json.loads(line) for line in (folder / "trials.jsonl").read_text("utf-8").splitlines()]


def grades(folder):
    """Give the grades of every trial as the bytes in which they are stored."""
    lines = (folder / "trials.jsonl").read_bytes().splitlines()
    stored = (msgspec.json.decode(line, type=dict[str, msgspec.Raw]) for line in lines)
    return {
        tuple(bytes(one[name]) for name in ("sample_id", "model", "epoch")): bytes(one["grades"])
        for one in stored
    }


def two_agents(samples, repeats):
    """Make records of two agents, of which `hasty` often says another value."""
    chance = random.Random(7)
    for sample in range(samples):
        for _ in range(repeats):
            for agent in ("careful", "hasty"):
                wrong = agent == "hasty" and chance.random() < 0.5
                yield chat(
                    f"Where is parcel {sample}?",
                    value=f"K{sample}",
                    says="It is lost." if wrong else None,
                    instance_id=f"parcel-{sample}",
                    agent={"name": agent},
                    resolved=not wrong,
                )


MAP = "sample=instance_id,model=agent.name,outcome=resolved"


def test_records_are_graded_exported_and_listed_by_model_in_three_commands(folder):
    write_lines(folder / "records.jsonl", two_agents(100, 4))
    code, out, err = regrade(folder, "grade", "records.jsonl", "--suite", ".", "--map", MAP)
    assert (code, "800 trials on 2 models" in out) == (0, True), err
    code, out, err = regrade(folder, "export", "latest", "--to", "csv", "--out", "t.csv")
    assert (code, out) == (0, "wrote t.csv\n"), err
    code, out, err = regrade(folder, "show", "latest")
    assert code == 0, err
    with (folder / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 800
    assert {row["epoch"] for row in rows} == {"0", "1", "2", "3"}
    for agent in ("careful", "hasty"):
        of_agent = [row for row in rows if row["model"] == agent]
        passed = sum(row["passed"] == "true" for row in of_agent)
        assert f"{passed}/400" in out.partition(agent)[2]
        assert all(row["told.passed"] == row["recorded.resolved.passed"] for row in of_agent)


def test_grading_twice_gives_the_same_grades_byte_for_byte(folder):
    write_lines(folder / "records.jsonl", two_agents(20, 2))
    for source in ("records.jsonl", "records.jsonl", "latest"):
        options = ("--map", MAP) if source != "latest" else ()
        assert regrade(folder, "grade", source, "--suite", ".", *options)[0] == 0
    first, second, again = map(grades, runs(folder))
    assert len(first) == 80
    assert first == second == again


def test_converted_records_are_graded_like_the_source(folder):
    write_lines(folder / "records.jsonl", two_agents(10, 2))
    code, out, err = regrade(folder, "convert", "records.jsonl", "--out", "own.jsonl", "--map", MAP)
    assert (code, out) == (0, "wrote 40 trials (openai-chat) to own.jsonl\n"), err
    written = [json.loads(line) for line in (folder / "own.jsonl").read_text("utf-8").splitlines()]
    assert {tuple(trial["grades"]) for trial in written} == {("recorded.resolved",)}
    regrade(folder, "grade", "records.jsonl", "--suite", ".", "--map", MAP)
    assert regrade(folder, "grade", "own.jsonl", "--suite", ".")[0] == 0
    source, own = runs(folder)
    assert grades(source) == grades(own)
    manifest = json.loads((own / "manifest.json").read_text("utf-8"))
    assert manifest["graded_from"]["format"] == "regrade"
    assert regrade(folder, "convert", "latest", "--out", "again.jsonl")[0] == 0
    assert (folder / "again.jsonl").read_text("utf-8").count("\n") == 40


def test_a_run_exported_as_messages_or_as_parquet_is_a_source_again(folder):
    write_lines(folder / "records.jsonl", two_agents(5, 1))
    regrade(folder, "grade", "records.jsonl", "--suite", ".", "--map", MAP)
    (first,) = runs(folder)
    for kind, name in (("openai-chat", "conversations.jsonl"), ("parquet", "trials.parquet")):
        assert regrade(folder, "export", first.name, "--to", kind)[0] == 0
        code, _, err = regrade(folder, "grade", first / name, "--suite", ".")
        assert code == 0, err
        passed = {(t["sample_id"], t["model"]): t["passed"] for t in trials(runs(folder)[-1])}
        assert passed == {(t["sample_id"], t["model"]): t["passed"] for t in trials(first)}


def test_a_gate_decides_on_what_the_records_say_of_themselves(folder):
    gate = "gates: [{metric: recorded.resolved, model: careful, op: gte, value: 1}]\n"
    (folder / "suite.yaml").write_text(SUITE + gate, encoding="utf-8")
    write_lines(folder / "records.jsonl", two_agents(5, 1))
    code, out, _ = regrade(folder, "grade", "records.jsonl", "--suite", ".", "--map", MAP)
    assert (code, "gate met" in out) == (0, True)
    records = [{**one, "resolved": False} for one in two_agents(5, 1)]
    write_lines(folder / "records.jsonl", records)
    code, out, _ = regrade(folder, "grade", "records.jsonl", "--suite", ".", "--map", MAP)
    assert (code, "gate missed" in out) == (1, True)
    write_lines(folder / "records.jsonl", [chat(id="a", model="careful")])
    code, out, _ = regrade(folder, "grade", "records.jsonl", "--suite", ".")
    assert (code, "nothing measured" in out) == (1, True)


@pytest.mark.parametrize(
    ("lines", "words", "said"),
    [
        (["{"], (), "records.jsonl:1: this line is no JSON"),
        ([json.dumps(chat()), "{"], (), "records.jsonl:2: this line is no JSON"),
        ([json.dumps({"a": 1})], (), "records.jsonl: no format is known that looks like this"),
        ([json.dumps(chat())], ("--format", "nope"), 'there is no format "nope"'),
        ([json.dumps(chat())], ("--map", "sample=x"), 'it has no field "x"'),
        ([json.dumps(chat())], ("--map", "x"), '--map: found "x"'),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_line_exit_2_and_no_run(folder, lines, words, said):
    (folder / "records.jsonl").write_text("\n".join(lines), encoding="utf-8")
    code, out, err = regrade(folder, "grade", "records.jsonl", "--suite", ".", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not (folder / "runs").exists()


def test_records_without_a_suite_and_maps_of_a_run_are_wrong_usage(folder):
    write_lines(folder / "records.jsonl", [chat(id="a")])
    code, _, err = regrade(folder, "grade", "records.jsonl")
    assert (code, "--suite" in err) == (2, True)
    regrade(folder, "grade", "records.jsonl", "--suite", ".")
    code, _, err = regrade(folder, "grade", "latest", "--map", "sample=id")
    assert (code, "--map" in err) == (2, True)
    code, _, err = regrade(folder, "grade", "nothing-here", "--suite", ".")
    assert (code, "no run: there is no such directory" in err) == (2, True)


def test_records_are_matched_to_a_dataset_or_left_out_on_request(folder):
    dataset = [{"id": "p", "input": "Where is parcel 0?"}, {"id": "q", "input": "Else?"}]
    write_lines(folder / "samples.jsonl", dataset)
    (folder / "suite.yaml").write_text(f"{SUITE}dataset: samples.jsonl\n", encoding="utf-8")
    write_lines(folder / "records.jsonl", two_agents(2, 1))
    words = ("grade", "records.jsonl", "--suite", ".", "--map", "model=agent.name")
    code, _, err = regrade(folder, *words)
    assert (code, err.count("no sample has its prompt")) == (2, 2)
    code, out, _ = regrade(folder, *words, "--allow-unmatched")
    assert (code, "2 records belong to no sample" in " ".join(out.split())) == (0, True)
    assert [(t["sample_id"], t["model"]) for t in trials(runs(folder)[0])] == [
        ("p", "careful"),
        ("p", "hasty"),
    ]


def test_a_trial_that_another_tool_skipped_is_in_no_rate(folder):
    write_lines(folder / "records.jsonl", [chat(id="a"), chat(id="b")])
    regrade(folder, "convert", "records.jsonl", "--out", "own.jsonl")
    one, two = (folder / "own.jsonl").read_text("utf-8").splitlines()
    skipped = json.loads(two)
    skipped["grades"]["recorded.skipped"] = {"status": "skipped", "details": {"value": "no time"}}
    write_lines(folder / "own.jsonl", [json.loads(one), skipped])
    code, out, _ = regrade(folder, "grade", "own.jsonl", "--suite", ".")
    assert (code, "1/1" in out) == (0, True)
    for source in ("latest", "latest"):
        assert "1/1" in regrade(folder, "grade", source, "--suite", ".")[1]
    assert trials(runs(folder)[-1])[1]["grades"]["told"]["status"] == "skipped"


def test_the_formats_are_listed_and_explained(folder):
    code, out, _ = regrade(folder, "list", "formats")
    assert (code, "openai-chat" in out) == (0, True)
    assert "OpenAI Chat Completions API" in regrade(folder, "list", "formats", "openai-chat")[1]
    code, _, err = regrade(folder, "list", "formats", "openai_chat")
    assert (code, 'did you mean "openai-chat"?' in err) == (2, True)


SPEC = """
name: parcels
defaults: {timeout: 30s, executor: copilot-sdk}
scoring: {threshold: 0.5}
stimuli:
  - name: first
    prompt: Where is parcel 0?
    graders:
      - {type: output-contains, config: {value: K0}}
      - {type: tool-calls, config: {required: [lookup]}}
  - name: second
    prompt: Where is parcel 1?
    graders: [{type: output-contains, config: {value: K1}}]
"""
AGENT = "def answer(sample):\n    return f'It is K{sample.input[-2]}.'\n"


def test_an_eval_spec_of_vally_grades_records_and_runs_on_a_target_of_ours(folder):
    (folder / "eval.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    target = "kind: python\nagent: agent.py:answer\n"
    (folder / "target.yaml").write_text(target, encoding="utf-8")
    write_lines(folder / "records.jsonl", two_agents(2, 1))
    assert regrade(folder, "validate", "eval.yaml")[0] == 0
    words = ("grade", "records.jsonl", "--suite", "eval.yaml", "--map", "model=agent.name")
    code, _, err = regrade(folder, *words)
    assert code in {0, 1}, err
    names = {t["sample_id"]: list(t["grades"]) for t in trials(runs(folder)[0])}
    assert names == {
        "first": ["output-contains", "tool-calls", "recorded.resolved"],
        "second": ["output-contains", "recorded.resolved"],
    }
    code, _, err = regrade(folder, "run", "eval.yaml")
    assert (code, "--target" in err) == (2, True)
    code, out, err = regrade(folder, "run", "eval.yaml", "--target", "target.yaml")
    assert (code, "gate met: mean of trial" in out) == (0, True), err
    (folder / "eval.yaml").write_text(f"{SPEC}environment: {{env: {{A: b}}}}\n", encoding="utf-8")
    code, _, err = regrade(folder, "run", "eval.yaml", "--target", "target.yaml")
    assert (code, "no target sets up `env`" in err) == (2, True)


def test_parameters_fill_a_spec_for_every_command(folder):
    spec = SPEC.replace("parcel 0", "parcel ${FIRST}")
    (folder / "eval.yaml").write_text(spec, encoding="utf-8")
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    target = "kind: python\nagent: agent.py:answer\n"
    (folder / "target.yaml").write_text(target, encoding="utf-8")
    write_lines(folder / "records.jsonl", two_agents(2, 1))
    for words in (
        ("validate", "eval.yaml"),
        ("run", "eval.yaml", "--target", "target.yaml"),
        ("grade", "records.jsonl", "--suite", "eval.yaml", "--map", "model=agent.name"),
    ):
        code, _, err = regrade(folder, *words, "--param", "FIRST=0")
        assert code in {0, 1}, err
        code, _, err = regrade(folder, *words, "--param", "FRIST=0")
        assert (code, 'did you mean "FIRST"?' in err) == (2, True)
    driven = {one["sample_id"]: one["score"] for one in trials(runs(folder)[0])}
    assert driven == {"first": 0.5, "second": 1.0}


def test_a_stored_run_is_searched_for_what_its_agents_invented(tmp_path):
    suite = shutil.copytree(QUICKSTART, tmp_path / "suite")
    run = harness.run(suite, out=tmp_path / "runs")
    text = (suite / "suite.yaml").read_text("utf-8")
    added = "  made_up: {type: no-invented-values, config: {pattern: 'rt_[0-9a-f]{16}'}}\n"
    at = text.index("\n", text.index("\ngraders:") + 1) + 1
    (suite / "suite.yaml").write_text(text[:at] + added + text[at:], encoding="utf-8")
    # No agent is driven: there would be none.
    (suite / "models.yaml").write_text(
        "models: {careful: [{say: x}], hasty: [{say: x}]}\n", "utf-8"
    )
    again = harness.grade(run, suite, out=tmp_path / "runs")
    found = {
        (trial.model, trial.sample_id): set(trial.grades["made_up"].details.get("invented", ()))
        for trial in again.trials()
    }
    assert found == {(t.model, t.sample_id): invented(t.trajectory) for t in run.trials()}
    assert {model for (model, _), values in found.items() if values} == {"scripted/hasty"}


def invented(trajectory):
    """Find the release ids that the agent told before it had seen them."""
    seen, made_up = set(), set()
    for event in trajectory.events():
        told = RELEASE.findall(getattr(event, "text", "") or getattr(event, "output", ""))
        if isinstance(event, AssistantMessage):
            made_up |= set(told) - seen
        else:
            seen |= set(told)
    return made_up
