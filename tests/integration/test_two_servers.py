"""`regrade run` against a server that is not ours gives the trajectories it gives against ours."""

import json
import os
import subprocess
import sys

import pytest
from integration.openai_driving import serve
from integration.other_server import Answer, by_results, call

TOOLS = '''
def look_up(number: str) -> dict:
    """Look a number up."""
    return {"value": f"v-{number}"}
'''
SCRIPT = """
models:
  steady:
    - when: {replies: 0, user: 'number (?P<n>[0-9]+)'}
      say: I look it up.
      call: {look_up: {number: "{n}"}}
    - when: {results: {look_up: '"value":"(?P<v>.+?)"'}}
      say: "It is {v}."
"""
ANSWERS = (
    Answer(content="I look it up.", calls=(call("look_up", '{"number":"7"}', "c1"),)),
    Answer(content="It is v-7."),
)
SUITE = """
name: two servers
samples: [{id: s, input: number 7}]
target:
  kind: openai
  models: [MODEL]
  base_url: ${SERVER}
  script: models.yaml
  tools: tools.py
  request: {stream: STREAM}
graders:
  told: {type: assistant-contains-tool-output, config: {tools: [look_up], pattern: 'v-\\d'}}
"""


def run(folder, model, stream, server):
    text = SUITE.replace("MODEL", model).replace("STREAM", str(stream).lower())
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "models.yaml").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", ".", "--out", model.replace("/", "-")],
        cwd=folder,
        env={**os.environ, "SERVER": server},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (trials,) = (folder / model.replace("/", "-")).glob("*/trials.jsonl")
    return json.loads(trials.read_text("utf-8"))


def what_happened(trial):
    """Give the events without times and what every server makes up itself: ids of calls."""
    return [
        [
            {key: value for key, value in event.items() if key not in ("at", "call_id")}
            for event in turn["events"]
        ]
        for turn in trial["trajectory"]["turns"]
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_the_same_conversation_is_the_same_trajectory_on_both_servers(tmp_path, stream):
    with serve(*ANSWERS, choose=by_results) as server:
        other = run(tmp_path, "steady", stream, server.url)
    ours = run(tmp_path, "scripted/steady", stream, "http://127.0.0.1:1/v1")
    assert what_happened(ours) == what_happened(other)
    kinds = [event["type"] for event in what_happened(ours)[0]]
    assert kinds == [
        "user_message",
        "assistant_message",
        "tool_call",
        "tool_result",
        "assistant_message",
    ]
    assert ours["grades"] == other["grades"]


def test_streaming_and_not_are_the_same_trajectory(tmp_path):
    whole = run(tmp_path, "scripted/steady", stream=False, server="http://127.0.0.1:1/v1")
    for path in (tmp_path / "scripted-steady").glob("[!.]*"):
        path.rename(tmp_path / "whole")
    streamed = run(tmp_path, "scripted/steady", stream=True, server="http://127.0.0.1:1/v1")
    assert what_happened(whole) == what_happened(streamed)
