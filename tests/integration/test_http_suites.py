"""Suites with an agent behind a URL, run by the command: the documented examples, keys, outages."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
import yaml
from aiohttp import web
from integration.agent_server import Streamed, agent_server, says

PAGE = Path(__file__).parents[2] / "docs" / "targets.md"
KEY = "canary-9f3a-value-of-a-key"
GRADERS = {"right": {"kind": "tool", "function": "contains", "extractor": "last_assistant"}}
REGRADE = [sys.executable, "-m", "harness.cli"]


def documented():
    """Give the targets that the section on `http` shows, in their order."""
    section = PAGE.read_text("utf-8").partition("\n## http\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```yaml\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return [yaml.safe_load(block)["target"] for block in blocks]


def write_suite(folder, target, samples, **more):
    suite = {"name": "behind", "samples": samples, "target": target, "graders": GRADERS, **more}
    (folder / "suite.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")


async def regrade(folder, *words, **environment):
    """Run the command; return its exit code and all that it said."""
    process = await asyncio.create_subprocess_exec(
        *REGRADE, *words, cwd=folder, env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, said.decode()


def trials(folder):
    (path,) = (folder / "runs").glob("*/trials.jsonl")
    return list(map(json.loads, path.read_text("utf-8").splitlines()))


def everything(folder):
    return b"".join(path.read_bytes() for path in (folder / "runs").rglob("*") if path.is_file())


async def test_the_first_example_of_the_page_drives_an_agent_with_tools(tmp_path):
    def answer(seen):
        call = {"id": "c1", "function": {"name": "look", "arguments": '{"what": "train"}'}}
        steps = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "Tuesday"},
        ]
        usage = {"input_tokens": 1, "output_tokens": 2}
        told = f"{seen.json['message']}: Tuesday"
        return web.json_response({"steps": steps, "answer": told, "usage": usage})

    async with agent_server(answer) as server:
        write_suite(tmp_path, documented()[0], [{"id": "1", "input": "a", "ground_truth": "Tue"}])
        environment = {"AGENT_URL": server.url, "AGENT_KEY": KEY}
        code, said = await regrade(tmp_path, "run", "suite.yaml", **environment)
    assert code == 0, said
    (seen,) = server.seen
    assert seen.path == "/chat"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert set(seen.json) == {"message", "thread", "model"}
    (trial,) = trials(tmp_path)
    kinds = [event["type"] for event in trial["trajectory"]["turns"][0]["events"]]
    assert kinds == ["user_message", "tool_call", "tool_result", "assistant_message"]
    assert (trial["usage"]["input_tokens"], trial["usage"]["output_tokens"]) == (1, 2)


async def test_the_second_example_of_the_page_keeps_threads_on_the_server(tmp_path):
    threads = {}

    def answer(seen):
        if seen.path == "/threads":
            number = f"t{len(threads)}"
            threads[number] = []
            return web.json_response({"thread": {"id": number}})
        thread = threads[seen.path.split("/")[2]]
        if seen.method == "DELETE":
            thread.append("deleted")
            return web.Response(status=204)
        thread.append(seen.json["text"])
        return web.json_response({"text": " ".join(thread)})

    async with agent_server(answer) as server:
        target = documented()[1]
        target["url"] = target["url"].replace("http://127.0.0.1:9000", server.url)
        samples = [{"id": str(n), "input": ["a", f"b{n}"], "ground_truth": f"b{n}"} for n in (1, 2)]
        write_suite(tmp_path, target, samples)
        code, said = await regrade(tmp_path, "run", "suite.yaml")
    assert code == 0, said
    assert sorted(threads.values()) == [["a", "b1", "deleted"], ["a", "b2", "deleted"]]


@pytest.mark.parametrize(
    ("status", "stream"), [(200, False), (200, True), (401, False), (500, True)]
)
async def test_a_key_that_the_server_echoes_is_written_nowhere(tmp_path, status, stream):
    def answer(seen):
        echo = seen.headers["x-access"]
        if status != 200:
            return web.json_response({"error": {"message": f"no: {echo}"}}, status=status)
        if stream:
            return Streamed(({"reply": echo[:9]}, {"reply": echo[9:]}, "[DONE]"))
        return says(f"you sent {echo}", served=echo)

    async with agent_server(answer) as server:
        target = {
            "kind": "http",
            "url": f"{server.url}/chat",
            "headers": {"X-Access": "Custom ${SOME_VALUE}"},
            "request": {"q": "{{input}}"},
            "response": {"text": "$.reply", "model": "$.served"},
            **({"stream": "sse"} if stream else {}),
        }
        samples = [{"id": "1", "input": "a", "ground_truth": "x"}]
        write_suite(tmp_path, target, samples, retries={"attempts": 1})
        _, said = await regrade(tmp_path, "run", "suite.yaml", SOME_VALUE=KEY)
        _, shown = await regrade(tmp_path, "show", "latest", "1")
    assert server.seen[0].headers["x-access"] == f"Custom {KEY}"
    assert len(trials(tmp_path)) == 1
    assert KEY.encode() not in everything(tmp_path)
    assert KEY not in said + shown


async def test_a_variable_that_is_missing_is_found_by_validate(tmp_path):
    target = {
        "kind": "http",
        "url": "http://127.0.0.1:9000/",
        "headers": {"X-Access": "${SOME_UNSET_VALUE}"},
        "request": {"q": "{{input}}"},
    }
    write_suite(tmp_path, target, [{"id": "1", "input": "a", "ground_truth": "x"}])
    code, said = await regrade(tmp_path, "validate", "suite.yaml")
    assert code == 2
    assert "target.headers: X-Access: the environment variable SOME_UNSET_VALUE is not set" in said
