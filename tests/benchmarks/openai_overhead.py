"""What the `openai` target costs beside a bare loop over the same SDK, in processor time.

Both hold the same conversations (a tool call, its result, an answer) with the same scripted models,
which a process of their own serves. Exits with 1 where the promise is not kept.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REGRADE = Path(sys.executable).parent / "regrade"
FEW, MANY = 100, 1_100
ROUNDS = 3
PROMISED = 1.1

SCRIPT = """\
models:
  steady:
    - when: {replies: 0, user: 'number (?P<n>[0-9]+)'}
      call: {look_up: {number: "{n}"}}
    - when: {results: {look_up: 'value (?P<v>[0-9]+)'}}
      say: "It is {v}."
"""

TOOLS = '''\
async def look_up(number: str) -> str:
    """Look a number up.

    Args:
        number: which one
    """
    return f"value {number}"
'''

SUITE = """\
name: openai-overhead
dataset: samples.jsonl
target: {{kind: openai, base_url: "{url}", models: [steady], tools: tools.py}}
graders:
  answers: {{kind: tool, function: contains, extractor: last_assistant}}
limits: {{concurrency: 20}}
gates: [{{metric: answers, op: eq, value: 1}}]
"""

REFERENCE = """\
import asyncio, json, sys
from openai import AsyncOpenAI
from tools import look_up

TOOL = {"type": "function", "function": {"name": "look_up", "description": "Look a number up.",
        "parameters": {"type": "object", "properties": {"number": {"type": "string"}}}}}

async def converse(client, row):
    messages = [{"role": "user", "content": row["input"]}]
    ask = client.chat.completions.create
    while True:
        reply = await ask(model="steady", messages=messages, tools=[TOOL])
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return messages
        for call in message.tool_calls:
            output = await look_up(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": output})

async def main():
    client = AsyncOpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
    gate = asyncio.Semaphore(20)
    with open("samples.jsonl") as rows, open("out.jsonl", "w") as out:
        async def trial(row):
            async with gate:
                messages = await converse(client, row)
                passed = row["ground_truth"] in messages[-1]["content"]
                out.write(json.dumps({"id": row["id"], "passed": passed, "messages": messages}))
                out.write("\\n")
                out.flush()
        await asyncio.gather(*(trial(json.loads(row)) for row in rows))

asyncio.run(main())
"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the scripted models in a process of their own, and give the base URL."""
    (folder / "models.yaml").write_text(SCRIPT, encoding="utf-8")
    command = [REGRADE, "serve-model", "models.yaml"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8") as server:
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            if found is None:
                raise SystemExit("the scripted models are not served")
            yield found.group()
        finally:
            server.terminate()


def processor_seconds(command: list[str], folder: Path) -> float:
    """Run a command to its end and give the processor time that it took."""
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        text = (folder / "output.txt").read_text(encoding="utf-8")[-2000:]
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{text}")
    return usage.ru_utime + usage.ru_stime


def write_samples(folder: Path, samples: int) -> None:
    """Write a dataset of so many samples."""
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as file:
        for n in range(samples):
            row = {"id": f"q{n}", "input": f"What is number {n}?", "ground_truth": f"is {n}."}
            file.write(f"{json.dumps(row)}\n")


def measure(folder: Path, url: str) -> tuple[float, float]:
    """Give milliseconds a conversation, of Regrade and of the bare loop, start-up taken off."""
    commands = (
        [str(REGRADE), "run", "suite.yaml", "--out", "runs"],
        [sys.executable, "reference.py", url],
    )
    seconds = []
    for samples in (FEW, MANY):
        write_samples(folder, samples)
        seconds.append([processor_seconds(command, folder) for command in commands])
    ours, plain = ((many - few) / (MANY - FEW) * 1000 for few, many in zip(*seconds, strict=True))
    return ours, plain


def main() -> int:
    """Measure a few times in turns, and judge the median."""
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as url:
        folder = Path(name)
        (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
        (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
        (folder / "suite.yaml").write_text(SUITE.format(url=url), encoding="utf-8")
        rounds = [measure(folder, url) for _ in range(ROUNDS)]
    for ours, plain in rounds:
        sys.stdout.write(
            f"{ours:.2f} ms a conversation, bare loop {plain:.2f}: {ours / plain:.2f}\n"
        )
    ratio = statistics.median(ours / plain for ours, plain in rounds)
    verdict = "kept" if ratio <= PROMISED else "BROKEN"
    sys.stdout.write(f"openai target {ratio:.2f}, promised {PROMISED:.2f}: {verdict}\n")
    return 0 if ratio <= PROMISED else 1


if __name__ == "__main__":
    sys.exit(main())
