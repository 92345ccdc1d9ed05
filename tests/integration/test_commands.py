"""The command as its users call it: a subprocess, real files, real signals."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

AGENT = """
import asyncio

async def answer(sample):
    return f"answer to {sample.input}"

async def slow(sample):
    if sample.id != "s0":
        await asyncio.sleep(60)
    return "answer"

async def crash(sample):
    raise ValueError("no such thing")
"""
SUITE = """
name: little
dataset: samples.jsonl
target: {kind: python, agent: "agent.py:AGENT"}
graders:
  right: {kind: tool, function: contains}
limits: {concurrency: 2}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE.replace("AGENT", "answer"), encoding="utf-8")
    rows = [{"id": f"s{n}", "input": f"question {n}", "ground_truth": "answer"} for n in range(5)]
    write_rows(tmp_path, rows)
    return tmp_path


def write_rows(folder, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "samples.jsonl").write_text(text, encoding="utf-8")


def change_suite(folder, old, new):
    path = folder / "suite.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def start(folder, *words, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def regrade(folder, *words, **environment):
    process = start(folder, *words, **environment)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def only_run(folder):
    (run,) = (folder / "runs").glob("[!.]*")
    return run


def stored(run):
    return [json.loads(line) for line in (run / "trials.jsonl").read_text("utf-8").splitlines()]


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_a_suite_runs_to_its_table_and_its_run_directory(folder):
    code, out, err = regrade(folder, "run", "suite.yaml")
    assert code == 0, err
    assert "5/5" in out
    assert f"Stored in {Path('runs') / only_run(folder).name}" in out
    assert json.loads((only_run(folder) / "summary.json").read_text("utf-8"))["passed"]
    assert len(stored(only_run(folder))) == 5


def test_a_folder_stands_for_its_suite(folder):
    assert regrade(folder.parent, "run", folder.name, "--out", folder / "runs")[0] == 0


def test_samples_are_selected(folder):
    code, out, _ = regrade(folder, "run", ".", "--sample", "s1", "--sample", "s3", "--epochs", "2")
    assert (code, "4 trials" in out) == (0, True)
    code, out, _ = regrade(folder, "run", ".", "--limit", "1", "--model", "mine")
    assert (code, "mine" in out) == (0, True)


@pytest.mark.parametrize("option", [("--sample", "nope"), ("--tag", "nope")])
def test_a_selection_that_selects_nothing_is_a_mistake(folder, option):
    code, out, err = regrade(folder, "run", ".", *option)
    assert (code, out) == (2, "")
    assert "nope" in err
    assert not (folder / "runs").exists()


def test_a_gate_that_is_missed_is_exit_code_1_and_is_said(folder):
    gate = "gates: [{metric: right, op: gte, value: 0.9}]\n"
    (folder / "suite.yaml").write_text(
        (folder / "suite.yaml").read_text("utf-8") + gate, encoding="utf-8"
    )
    rows = [{"id": f"s{n}", "input": "q", "ground_truth": "answer"} for n in range(9)]
    write_rows(folder, [*rows, {"id": "x", "input": "q", "ground_truth": "else"}])
    code, out, _ = regrade(folder, "run", ".")
    assert (code, "gate met" in out) == (0, True)
    write_rows(folder, [*rows[1:], {"id": "x", "input": "q", "ground_truth": "else"}])
    code, out, _ = regrade(folder, "run", ".")
    assert (code, "gate missed" in out) == (1, True)
    assert "Contains ground_truth: False" in out


def test_an_agent_that_always_fails_is_never_green(folder):
    change_suite(folder, "answer", "crash")
    code, out, _ = regrade(folder, "run", ".")
    assert code == 3
    assert "no trial was driven" in out
    assert "ValueError: no such thing" in out


def test_ctrl_c_ends_the_run_in_order_and_keeps_what_is_done(folder):
    change_suite(folder, "answer", "slow")
    process = start(folder, "run", ".")
    runs = folder / "runs"
    wait_for(lambda: runs.exists() and any(p.stat().st_size for p in runs.glob("*/trials.jsonl")))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    statuses = {trial["sample_id"]: trial["status"] for trial in stored(only_run(folder))}
    assert statuses.pop("s0") == "completed"
    assert set(statuses.values()) == {"interrupted"}
    summary = json.loads((only_run(folder) / "summary.json").read_text("utf-8"))
    assert (summary["complete"], summary["passed"]) == (False, False)
    assert "interrupted" in out
    assert "Traceback" not in err


def test_sigterm_does_the_same(folder):
    change_suite(folder, "answer", "slow")
    process = start(folder, "run", ".")
    runs = folder / "runs"
    wait_for(lambda: runs.exists() and any(p.stat().st_size for p in runs.glob("*/trials.jsonl")))
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert (only_run(folder) / "summary.json").is_file()


def test_a_run_that_is_killed_can_still_be_shown(folder):
    change_suite(folder, "answer", "slow")
    process = start(folder, "run", ".")
    runs = folder / "runs"
    wait_for(lambda: runs.exists() and any(p.stat().st_size for p in runs.glob("*/trials.jsonl")))
    process.kill()
    process.communicate(timeout=30)
    code, out, _ = regrade(folder, "show", "latest", "s0")
    assert (code, "answer" in out) == (0, True)
    code, out, _ = regrade(folder, "show", "latest")
    assert (code, "1 trial" in out) == (0, True)


def test_show_tells_what_happened_in_a_trial(folder):
    regrade(folder, "run", ".")
    code, out, _ = regrade(folder, "show", "latest", "s2")
    assert code == 0
    for word in ("s2 on default", "question 2", "answer to question 2", "right: passed"):
        assert word in out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("show", "latest", "s9"), "s0"),
        (("show", "latest", "--model", "gpt"), "default"),
        (("show", "nothing"), "latest"),
        (("grade", "nothing"), "latest"),
        (("run", "nothing.yaml"), "nothing.yaml"),
        (("run", "suite.yaml", "--epochs", "0"), "--epochs"),
        (("list", "graders", "containz"), "contains"),
    ],
)
def test_a_wrong_name_is_one_line_and_exit_code_2(folder, words, named):
    regrade(folder, "run", ".")
    code, _, err = regrade(folder, *words)
    assert code == 2, err
    assert named in err
    assert "Traceback" not in err


def test_a_stored_run_is_graded_again_without_an_agent(folder):
    regrade(folder, "run", ".")
    change_suite(folder, "function: contains", "function: exact_match")
    change_suite(folder, "agent.py:answer", "agent.py:crash")
    code, out, err = regrade(folder, "grade", "latest")
    assert code == 0, err
    assert "0/5" in out
    assert len(list((folder / "runs").glob("[!.]*"))) == 2


def test_a_suite_that_only_grades_needs_no_target(folder):
    regrade(folder, "run", ".")
    only = folder / "only.yaml"
    only.write_text(
        "name: only\ndataset: samples.jsonl\n"
        "graders: {same: {kind: tool, function: ascii_printable_only}}\n",
        encoding="utf-8",
    )
    code, out, err = regrade(folder, "grade", "latest", "--suite", only)
    assert (code, "5/5" in out) == (0, True), err
    code, _, err = regrade(folder, "run", only)
    assert (code, "no target" in err) == (2, True)


def test_an_ascii_locale_loses_no_sample(folder):
    write_rows(folder, [{"id": "é", "input": "réponse 日本 🙂", "ground_truth": "日本"}])
    text = (folder / "samples.jsonl").read_text("utf-8").encode().decode("unicode_escape")
    (folder / "samples.jsonl").write_text(
        text.encode("utf-16", "surrogatepass").decode("utf-16"), encoding="utf-8"
    )
    code, out, err = regrade(
        folder, "run", ".", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii"
    )
    assert (code, "1/1" in out) == (0, True), err
    assert stored(only_run(folder))[0]["sample_id"] == "é"


@pytest.mark.parametrize(
    "words",
    [
        ("show", "latest"),
        ("show", "latest", "é"),
        ("show", "latest", "no-ü"),
        ("explain", "latest"),
        ("explain", "latest", "--json"),
        ("report", "latest", "--markdown", "-"),
        ("report", "latest", "--junit", "-"),
        ("report", "latest", "--github"),
        ("history",),
        ("plan", "."),
        ("validate", "."),
        ("validate", "ü"),
        ("list",),
        ("schema",),
        ("--ü",),
    ],
    ids=" ".join,
)
def test_an_ascii_terminal_gets_nothing_but_ascii_and_no_secret(folder, words):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    row = {"id": "é", "input": "réponse canary-9f3a", "ground_truth": "日本", "tags": ["über"]}
    write_rows(folder, [row])
    assert regrade(folder, "run", ".", **ascii_only)[0] == 0
    command = Path(sys.executable).with_name("regrade")
    environment = {**os.environ, **ascii_only, "SOME_API_KEY": "canary-9f3a"}
    done = subprocess.run(
        [command, *words], cwd=folder, env=environment, capture_output=True, timeout=60, check=False
    )
    assert (done.stdout + done.stderr).isascii()
    assert b"canary" not in done.stdout + done.stderr
    if "--json" in words or "schema" in words:
        json.loads(done.stdout)
    if "--junit" in words:
        assert ET.fromstring(done.stdout).find(".//testcase[@name='é']") is not None


def test_a_project_with_folders_of_our_names_does_not_get_in_the_way(folder):
    for name in ("harness", "graders"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise RuntimeError('theirs')\n", "utf-8")
    command = Path(sys.executable).with_name("regrade")
    done = subprocess.run(
        [command, "run", "."], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_full_disk_ends_the_run_in_order(folder):
    rows = [{"id": f"s{n}", "input": "x" * 2000, "ground_truth": "x"} for n in range(200)]
    write_rows(folder, rows)
    limited = f"ulimit -f 200; exec {shlex.quote(sys.executable)} -m harness.cli run . --quiet"
    done = subprocess.run(
        ["bash", "-c", limited], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "cannot write the results" in done.stdout
    assert "Traceback" not in done.stderr
    for line in (only_run(folder) / "trials.jsonl").read_text("utf-8").splitlines():
        json.loads(line)


def test_a_run_is_graded_again_from_another_folder_by_its_own_suite(folder, tmp_path):
    regrade(folder, "run", ".")
    other = tmp_path / "other"
    other.mkdir()
    (other / "suite.yaml").write_text("name: another\n", encoding="utf-8")
    code, out, err = regrade(other, "grade", only_run(folder))
    assert (code, "little: 5 trials" in out) == (0, True), err


def test_a_dataset_that_changes_during_the_run_makes_it_incomplete(folder):
    change_suite(folder, "answer", "slow")
    process = start(folder, "run", ".")
    runs = folder / "runs"
    wait_for(lambda: runs.exists() and any(p.stat().st_size for p in runs.glob("*/trials.jsonl")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    agent = (folder / "agent.py").read_text("utf-8")
    grow = 'open(\'samples.jsonl\', \'a\').write(\'{"id": "new", "input": "q"}\\\\n\')'
    (folder / "agent.py").write_text(
        agent.replace("    if sample.id", f"    {grow}\n    if sample.id").replace("60", "0"),
        "utf-8",
    )
    code, out, err = regrade(folder, "run", ".", "--concurrency", "1")
    assert (code, "the dataset has changed" in out) == (3, True), err


def test_output_that_nobody_reads_does_not_hide_a_missed_gate(folder):
    with (folder / "suite.yaml").open("a", encoding="utf-8") as suite:
        suite.write("gates: [{metric: right, op: gt, value: 1}]\n")
    command = f"{shlex.quote(sys.executable)} -m harness.cli run . | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_ctrl_c_ends_a_run_that_hangs(folder):
    (folder / "agent.py").write_text(
        "import time\n\n\nasync def hang(sample):\n    print('here', flush=True)\n"
        "    time.sleep(120)\n",
        encoding="utf-8",
    )
    change_suite(folder, "answer", "hang")
    process = start(folder, "run", ".", "--quiet")
    assert process.stdout.readline() == "here\n"
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_a_model_that_the_script_does_not_have_is_a_mistake_for_validate_and_run(folder):
    (folder / "models.yaml").write_text("models: {careful: [{say: hi}]}\n", encoding="utf-8")
    scripted = 'target: {kind: openai, models: [scripted/x], script: "models.yaml"}'
    change_suite(folder, 'target: {kind: python, agent: "agent.py:answer"}', scripted)
    for command in ("validate", "run"):
        code, out, err = regrade(folder, command, "suite.yaml")
        assert code == 2
        said = 'models.yaml: models: the script has no model "x"; allowed: careful'
        assert said in out + err


def test_run_reports_the_mistakes_of_suite_and_dataset_together(folder):
    change_suite(folder, "right: {kind: tool, function: contains}", "right:")
    write_rows(folder, [{"id": "s0"}])
    code, _, err = regrade(folder, "run", "suite.yaml")
    assert code == 2
    assert "graders.right: found nothing" in err
    assert 'samples.jsonl:1: input: "input" is missing' in err


@pytest.mark.parametrize("words", ["list extractors", "schema", "show latest"])
def test_a_reader_that_stops_reading_is_no_error(folder, words):
    regrade(folder, "run", ".")
    command = (
        f"{shlex.quote(sys.executable)} -m harness.cli {words} | true; exit ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
