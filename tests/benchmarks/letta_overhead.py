"""What the `letta` target costs in processor time a trial, beside a bare loop over letta-client.

The bare loop makes an agent, streams one message with a call of a tool, and deletes the agent; the
target also reads the steps and the final state, and deletes what an agent leaves behind. Waiting
for the server is not counted. Needs the address of a Letta server on this machine as
LETTA_BASE_URL; the model is scripted. Exits with 1 where the promise is not kept.
"""

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
FEW, MANY = 5, 45
ROUNDS = 2
PROMISED = 1.5

SCRIPT = """\
alike: prompts
models:
  steady:
    - when: {replies: 0}
      call: {memory_insert: {label: human, new_string: noted}}
    - say: It is noted.
"""

SUITE = """\
name: letta-overhead
dataset: samples.jsonl
target:
  kind: letta
  agent:
    memory_blocks: [{{label: human, value: Bo}}]
    include_base_tools: false
    server_tools: [memory_insert]
    llm_config:
      model: steady
      model_endpoint_type: openai
      model_endpoint: "{url}"
      context_window: 30000
graders:
  noted: {{kind: tool, function: contains, extractor: last_assistant}}
limits: {{concurrency: 4}}
gates: [{{metric: noted, op: eq, value: 1}}]
"""

REFERENCE = """\
import asyncio, json, os, sys
from letta_client import AsyncLetta

async def converse(client, row):
    agent = await client.agents.create(
        memory_blocks=[{"label": "human", "value": "Bo"}], include_base_tools=False,
        tools=["memory_insert"],
        llm_config={"model": "steady", "model_endpoint_type": "openai",
                    "model_endpoint": sys.argv[1], "context_window": 30000})
    messages = []
    stream = await client.agents.messages.create(
        agent.id, messages=[{"role": "user", "content": row["input"]}], streaming=True)
    async for message in stream:
        messages.append(message.model_dump(mode="json"))
    await client.agents.delete(agent.id)
    return messages

async def main():
    client = AsyncLetta(base_url=os.environ["LETTA_BASE_URL"], api_key="none", max_retries=0)
    gate = asyncio.Semaphore(4)
    with open("samples.jsonl") as rows, open("out.jsonl", "w") as out:
        async def trial(row):
            async with gate:
                out.write(json.dumps({"id": row["id"], "messages": await converse(client, row)}))
                out.write("\\n")
                out.flush()
        await asyncio.gather(*(trial(json.loads(row)) for row in rows))

asyncio.run(main())
"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the scripted model in a process of its own, and give the base URL."""
    (folder / "models.yaml").write_text(SCRIPT, encoding="utf-8")
    command = [REGRADE, "serve-model", "models.yaml", "--close"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8") as server:
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            if found is None:
                raise SystemExit("the scripted model is not served")
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


def measure(folder: Path, url: str) -> tuple[float, float]:
    """Give milliseconds a trial, of Regrade and of the bare loop, start-up taken off."""
    commands = (
        [str(REGRADE), "run", "suite.yaml", "--out", "runs", "--quiet"],
        [sys.executable, "reference.py", url],
    )
    seconds = []
    for samples in (FEW, MANY):
        rows = (
            f'{{"id": "q{n}", "input": "Note number {n}.", "ground_truth": "noted"}}\n'
            for n in range(samples)
        )
        (folder / "samples.jsonl").write_text("".join(rows), encoding="utf-8")
        seconds.append([processor_seconds(command, folder) for command in commands])
    ours, plain = ((many - few) / (MANY - FEW) * 1000 for few, many in zip(*seconds, strict=True))
    return ours, plain


def main() -> int:
    """Measure a few times in turns, and judge the median."""
    if not os.environ.get("LETTA_BASE_URL"):
        sys.stdout.write("letta target not measured: LETTA_BASE_URL names no server\n")
        return 0
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as url:
        folder = Path(name)
        (folder / "reference.py").write_text(REFERENCE, encoding="utf-8")
        (folder / "suite.yaml").write_text(SUITE.format(url=url), encoding="utf-8")
        rounds = [measure(folder, url) for _ in range(ROUNDS)]
    for ours, plain in rounds:
        sys.stdout.write(f"{ours:.2f} ms a trial, bare loop {plain:.2f}: {ours / plain:.2f}\n")
    ratio = statistics.median(ours / plain for ours, plain in rounds)
    verdict = "kept" if ratio <= PROMISED else "BROKEN"
    sys.stdout.write(f"letta target {ratio:.2f}, promised {PROMISED:.2f}: {verdict}\n")
    return 0 if ratio <= PROMISED else 1


if __name__ == "__main__":
    sys.exit(main())
