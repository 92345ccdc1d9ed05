"""Inputs as spreadsheets, editors and other systems write them: read, or refused by their place."""

import json
import os
import subprocess
import sys

import pytest

import harness
from harness.loading.validation import find_faults
from harness.types.errors import InputError

SUITE = "name: s\ndataset: {data}\ntarget: {{kind: python, agent: 'agent.py:echo'}}\n{graders}"
GRADERS = "graders:\n  g: {kind: tool, function: contains}\n"
AGENT = "def echo(sample):\n    return sample.input\n"


def _write(folder, data, *, name="data.jsonl", graders=GRADERS, bom=""):
    text = SUITE.format(data=name, graders=graders)
    (folder / "suite.yaml").write_text(bom + text, encoding="utf-8")
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder / "suite.yaml"


def _said(suite):
    return [str(fault).replace(f"{suite.parent}/", "") for fault in find_faults(suite)]


def _trials(suite):
    run = harness.run(suite, out=suite.parent / "runs")
    return {trial.sample_id: trial for trial in run.trials()}


def _regrade(folder, *words, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("data.csv", 'input,ground_truth\r\n"Where is it?",is it\r\n'),
        ("data.jsonl", '{"input":"Where is it?","ground_truth":"is it"}\n'),
    ],
)
def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path, name, data):
    suite = _write(tmp_path, "\ufeff" + data, name=name, bom="\ufeff")
    assert _said(suite) == []
    (trial,) = _trials(suite).values()
    assert (next(trial.trajectory.events()).text, trial.passed) == ("Where is it?", True)


def test_a_cell_keeps_its_line_breaks_and_a_fault_its_line(tmp_path):
    cell = 'one\r\ntwo, with comma\r\n\r\nfour ""quoted""'
    rows = f'id,input,ground_truth\r\na,"{cell}",four\r\nb,short,sh\r\n'
    suite = _write(tmp_path, rows, name="data.csv")
    first = _trials(suite)["a"].trajectory
    assert next(first.events()).text == 'one\r\ntwo, with comma\r\n\r\nfour "quoted"'
    suite = _write(tmp_path, rows + "b,again,x\r\n", name="data.csv")
    (fault,) = _said(suite)
    assert fault.startswith("data.csv:7")


def test_blank_lines_are_skipped_and_counted(tmp_path):
    rows = '{"id":"a","input":"one"}\n\n   \t\n{"id":"b","input":"two"}\n\n'
    suite = _write(tmp_path, rows)
    assert set(_trials(suite)) == {"a", "b"}
    suite = _write(tmp_path, rows + '{"id":"c"}\n')
    (fault,) = _said(suite)
    assert fault.startswith("data.jsonl:6")


def test_a_line_that_is_no_json_is_refused_by_its_number_before_any_agent(tmp_path):
    rows = [json.dumps({"id": str(n), "input": "ok"}) for n in range(6)]
    rows[4] = rows[4][:-1]
    suite = _write(tmp_path, "\n".join(rows))
    code, out, err = _regrade(tmp_path, "run", str(suite.name))
    assert (code, out) == (2, b"")
    assert err.startswith(b"data.jsonl:5:")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("NO", "NO"),
        ("010", "010"),
        ("1.10", "1.10"),
        ("12:30:00", "12:30:00"),
        ("2031-02-03", "2031-02-03"),
        ("on", "on"),
        ("1e3", "1e3"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
    ],
)
def test_an_unquoted_text_in_yaml_stays_what_was_written(tmp_path, written, read):
    suite = _write(tmp_path, json.dumps({"id": "a", "input": f"it is {read}."}))
    grader = f"graders:\n  g: {{type: output-contains, config: {{substring: {written}}}}}\n"
    suite = _write(tmp_path, (tmp_path / "data.jsonl").read_bytes(), graders=grader)
    faults = _said(suite)
    if faults:
        assert all("quote" in fault for fault in faults)
        return
    assert _trials(suite)["a"].passed


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: s\ngraders:\n\tg: {kind: contains}\n", "suite.yaml:3:1: "),
        ("name: s\nnotes:\n  - `ledger` row\n", "suite.yaml:3:5: "),
        ("name: s\n---\nname: t\n", "suite.yaml:2:1: "),
    ],
)
def test_a_slip_in_yaml_is_one_plain_line_with_its_place(tmp_path, text, place):
    _write(tmp_path, "{}")
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    code, out, err = _regrade(tmp_path, "run", "suite.yaml")
    assert (code, out) == (2, b"")
    (line,) = err.decode().splitlines()
    assert line.startswith(place)


@pytest.mark.parametrize(
    "graders",
    [
        "graders:\n  g:\n    kind: tool\n    function: contains\n    asserts: []\n",
        "grader:\n  g: {kind: tool, function: contains}\n",
        "graders: {}\n",
        "graders: []\n",
        "",
    ],
)
def test_a_suite_in_which_nothing_would_be_checked_is_refused(tmp_path, graders):
    suite = _write(tmp_path, '{"input":"x"}\n', graders=graders)
    assert _said(suite)
    with pytest.raises(InputError):
        harness.run(suite, out=tmp_path / "runs")


@pytest.mark.parametrize("text", [r"parts\data.jsonl", "parts/data.jsonl", r"'.\parts\data.jsonl'"])
def test_a_path_may_have_either_separator(tmp_path, text):
    (tmp_path / "parts").mkdir()
    suite = _write(tmp_path, '{"id":"a","input":"x","ground_truth":"x"}\n', name="parts/data.jsonl")
    suite.write_text(SUITE.format(data=text, graders=GRADERS), encoding="utf-8")
    run = harness.run(suite, out=tmp_path / "runs")
    assert run.passed
    assert "\\" not in (run.manifest.dataset_file or "")


@pytest.mark.parametrize("text", [r'"parts\new.jsonl"', r'"parts\table.jsonl"', "parts/*.jsonl"])
def test_a_path_that_names_nothing_is_a_fault_at_its_place(tmp_path, text):
    suite = _write(tmp_path, "{}")
    suite.write_text(SUITE.format(data=text, graders=GRADERS), encoding="utf-8")
    (fault, *_) = _said(suite)
    assert fault.startswith("suite.yaml:2:")


def test_every_locale_reads_and_writes_everything(tmp_path):
    rows = [("a", "réponse"), ("b", "日本 🙂 ≤")]
    text = "".join(
        json.dumps({"id": i, "input": t, "ground_truth": t + "!"}, ensure_ascii=False) + "\n"
        for i, t in rows
    )
    suite = _write(tmp_path, text)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LANG": ""}
    code, out, err = _regrade(tmp_path, "run", suite.name, **plain, PYTHONCOERCECLOCALE="0")
    assert code == 0, err
    assert out.isascii()
    assert b"r\\xe9ponse" in out
    (run,) = (tmp_path / "runs").glob("[!.]*")
    trials = [json.loads(line) for line in (run / "trials.jsonl").read_bytes().splitlines()]
    said = {t["sample_id"]: t["trajectory"]["turns"][0]["events"][-1]["text"] for t in trials}
    assert said == dict(rows)
    for words in (("show", "latest", "b"), ("export", "latest", "--to", "csv")):
        code, out, err = _regrade(tmp_path, *words, **plain)
        assert code == 0, err


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("", ()),
        ("\n  \n\n", ()),
        ('{"id":"a","input":"x"}\n', ("--sample", "b")),
        ('{"id":"a","input":"x"}\n', ("--tag", "b")),
    ],
)
def test_a_run_of_nothing_is_wrong_input(tmp_path, rows, words):
    suite = _write(tmp_path, rows)
    code, out, err = _regrade(tmp_path, "run", suite.name, *words)
    assert (code, out) == (2, b"")
    assert len(err.splitlines()) == 1


def test_an_agent_that_cannot_be_driven_at_all_is_no_verdict(tmp_path):
    suite = _write(tmp_path, '{"id":"a","input":"x"}\n')
    (tmp_path / "agent.py").write_text(
        "import harness\ndef echo(sample):\n"
        "    raise harness.TargetError('down', code='bad_request')\n",
        encoding="utf-8",
    )
    code, out, _ = _regrade(tmp_path, "run", suite.name)
    assert code == 3
    assert b"cannot be judged" in out


def test_a_threshold_met_exactly_is_met(tmp_path):
    rows = "".join(
        json.dumps({"id": str(n), "input": "x", "ground_truth": "x" if n else "y"}) + "\n"
        for n in range(10)
    )
    gate = "gates: [{metric: g, op: gte, value: 0.9}]\n"
    suite = _write(tmp_path, rows, graders=GRADERS + gate)
    assert _regrade(tmp_path, "run", suite.name)[0] == 0
    suite = _write(tmp_path, rows, graders=GRADERS + gate.replace("0.9", "0.91"))
    assert _regrade(tmp_path, "run", suite.name)[0] == 1
