"""Values of keys are found nowhere: not in the run directory, nor in exports or on the terminal."""

import base64
import json
import os
import subprocess
import sys

import pytest
from integration.other_server import Answer, OtherServer, call, refusal

KEY = "canary-9f3a-secret"
ACCOUNT = "account-77-of-a-customer"

SUITE = """
name: secretive
samples: [{{id: s1, input: "Say it. My key is {key}", ground_truth: "{key}"}}]
target:
  kind: openai
  models: [m]
  base_url: "{url}"
  api_key_env: MY_ACCESS
  tools: tools.py
  request: {{stream: {stream}, user: "{key}"}}
secrets: [CUSTOMER]
retries: {{attempts: 1}}
graders:
  told: {{kind: tool, function: contains}}
  own: {{type: "checks.py:tells"}}
  apart: {{type: "checks.py:tells", isolation: process}}
  breaks: {{type: "checks.py:breaks", role: observed}}
"""
TOOLS = """
import os
import sys

def look(name: str) -> str:
    print("tool says", os.environ["MY_ACCESS"])
    sys.stderr.write(os.environ["CUSTOMER"] + "\\n")
    return "MY_ACCESS=" + os.environ["MY_ACCESS"] + "\\nPATH=/bin"
"""
CHECKS = """
import os
import sys
from harness import Grade, fixture

def tells(trajectory, notes):
    key = os.environ["MY_ACCESS"]
    print("grader says", key)
    sys.stderr.write(key + "\\n")
    told = [event.text for event in trajectory.events() if hasattr(event, "text")]
    return Grade(score=0.0, evidence=f"saw {told}, wanted {key}", details={"env": {"k": key}})

def breaks(trajectory):
    raise ValueError("no " + os.environ["MY_ACCESS"])

class Notes:
    def snapshot(self):
        return {"notes": [os.environ["CUSTOMER"], os.environ["MY_ACCESS"]]}

@fixture
def notes():
    yield Notes()
"""


def _regrade(folder, *words, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *map(str, words)],
        cwd=folder,
        env={**os.environ, "MY_ACCESS": KEY, "CUSTOMER": ACCOUNT, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def _write(folder, url, *, stream="false"):
    text = SUITE.format(url=url.replace("//", f"//someone:{KEY}@"), key=KEY, stream=stream)
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "checks.py").write_text(CHECKS, encoding="utf-8")


def _require_nothing(folder, shown):
    """Require that no spelling of a secret stands in what was shown, or below the folder."""
    texts = {"shown": shown}
    for path in folder.rglob("*"):
        if path.is_file():
            texts[str(path)] = path.read_bytes()
    basic = base64.b64encode(f"x:{KEY}".encode())[4:-4]
    for place, text in texts.items():
        for one in (KEY.encode(), ACCOUNT.encode(), KEY[7:].encode(), basic):
            assert one not in text, place


ANSWERS = {
    "a reply": [Answer(f"It is {KEY}, and {ACCOUNT}.")],
    "a tool's output": [
        Answer(calls=(call("look", {"name": KEY}),)),
        Answer("In base64: " + base64.b64encode(f"someone:{KEY}".encode()).decode()),
    ],
    "a call that cannot be run": [
        Answer(calls=(call(f"no-{KEY}", f'{{"a": "{KEY}'),)),
        Answer(extra={"reasoning_content": KEY}, content="x"),
    ],
    "an error's body": [
        refusal(422, f"invalid request: {{'headers': {{'authorization': 'Bearer {KEY}'}}}}")
    ],
    "an error's JSON": [refusal(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})],
    "an error's page": [refusal(500, f"<html>x-api-key: {KEY} {ACCOUNT}</html>")],
    "a header": [refusal(429, {"error": {"code": KEY}}, Retry_After=KEY, X_Echo=KEY)],
}


@pytest.mark.parametrize("stream", ["false", "true"])
@pytest.mark.parametrize("name", list(ANSWERS))
def test_a_key_that_comes_back_is_found_nowhere(tmp_path, name, stream):
    answers = iter(ANSWERS[name])
    with OtherServer(lambda body: next(answers)) as server:
        _write(tmp_path, server.url, stream=stream)
        code, shown = _regrade(tmp_path, "run", "suite.yaml")
    assert code in {0, 1, 3}, shown
    assert b"Traceback" not in shown
    run = tmp_path / "runs"
    _require_nothing(run, shown)
    for words in (
        ("show", "latest"),
        ("show", "latest", "s1"),
        ("grade", "latest"),
        ("export", "latest", "--to", "csv", "--out", "runs/t.csv"),
        ("export", "latest", "--to", "openai-chat", "--out", "runs/c.jsonl"),
        ("convert", "latest", "--out", "runs/o.jsonl"),
    ):
        code, shown = _regrade(tmp_path, *words)
        assert code in {0, 1, 3}, shown
        _require_nothing(run, shown)
    (trial,) = [
        json.loads(line)
        for path in sorted(run.glob("*secretive*/trials.jsonl"))[:1]
        for line in path.read_text("utf-8").splitlines()
    ]
    assert "[redacted]" in json.dumps(trial["trajectory"])


def test_a_key_in_pieces_of_a_stream_that_is_cut_is_found_nowhere(tmp_path):
    with OtherServer(lambda body: Answer(f"It is {KEY} and more", cut=15)) as server:
        _write(tmp_path, server.url, stream="true")
        _, shown = _regrade(tmp_path, "run", "suite.yaml")
    assert b"Traceback" not in shown
    _require_nothing(tmp_path / "runs", shown)


def test_graders_see_what_is_stored(tmp_path):
    with OtherServer(lambda body: Answer(f"It is {KEY}.")) as server:
        _write(tmp_path, server.url)
        _regrade(tmp_path, "run", "suite.yaml")
    (path,) = (tmp_path / "runs").glob("*/trials.jsonl")
    grade = json.loads(path.read_text("utf-8"))["grades"]["own"]
    assert "It is [redacted]." in grade["evidence"]
    assert grade["details"] == {"env": {"k": "[redacted]"}}


def test_a_key_on_the_command_line_or_in_a_mistake_is_not_shown(tmp_path):
    _write(tmp_path, "http://127.0.0.1:9")
    for words in (("run", f"{KEY}.yaml"), ("show", KEY), ("run", "suite.yaml", "--sample", KEY)):
        code, shown = _regrade(tmp_path, *words, SOME_TOKEN=KEY)
        assert code == 2, shown
        assert KEY.encode() not in shown


def test_what_was_recorded_elsewhere_is_written_without_the_keys_of_this_machine(tmp_path):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": f"It is {KEY}"}]
    record = json.dumps({"messages": messages, "ground_truth": KEY, "resolved": True})
    (tmp_path / "records.jsonl").write_text(record + "\n", encoding="utf-8")
    (tmp_path / "checks.yaml").write_text(
        "name: c\ngraders: {g: {type: exit-success}}\n", encoding="utf-8"
    )
    unaware = _regrade(tmp_path, "grade", "records.jsonl", "--suite", "checks.yaml")
    assert unaware[0] == 0, unaware[1]
    (run,) = (tmp_path / "runs").glob("[!.]*")
    assert KEY.encode() in (run / "trials.jsonl").read_bytes()
    out = tmp_path / "out"
    out.mkdir()
    for number, words in enumerate(
        [
            ("grade", "records.jsonl", "--suite", "checks.yaml", "--out", out),
            ("convert", "records.jsonl", "--out", out / "a.jsonl"),
            ("convert", run, "--out", out / "b.jsonl"),
            ("export", run, "--to", "csv", "--out", out / "c.csv"),
            ("export", run, "--to", "parquet", "--out", out / "d.parquet"),
            ("export", run, "--to", "openai-chat", "--out", out / "e.jsonl"),
            ("show", run, "--failed"),
            ("show", run, "--model", "default"),
        ]
    ):
        code, shown = _regrade(tmp_path, *words, SOME_TOKEN=KEY)
        assert code == 0, (number, shown)
        _require_nothing(out, shown)


def test_where_redacting_fails_the_run_ends_and_nothing_is_told_in_clear(tmp_path):
    (tmp_path / "agent.py").write_text(
        "def answer(sample):\n    return 'I am Ada Example'\n"
        "def hide(trial):\n    raise KeyError(trial['trajectory'])\n",
        encoding="utf-8",
    )
    (tmp_path / "suite.yaml").write_text(
        "name: s\nsamples: [{input: Who?}, {input: And?}]\nredact: agent.py:hide\n"
        "target: {kind: python, agent: agent.py:answer}\ngraders: {g: {type: exit-success}}\n",
        encoding="utf-8",
    )
    code, shown = _regrade(tmp_path, "run", "suite.yaml")
    assert code == 3, shown
    assert b"agent.py:hide: `redact` raised KeyError in line 4" in shown
    assert b"Traceback" not in shown
    texts = [path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert not [text for text in (shown, *texts) if b"Ada" in text]
