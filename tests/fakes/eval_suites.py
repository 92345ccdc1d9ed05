"""Suites in the spelling of letta-evals, and trajectories graded with them."""

import json

import harness
from harness.loading.datasets import open_dataset
from harness.loading.suite_files import load_suite
from harness.loading.validation import find_faults

TARGET = "target: {kind: letta_code, model_handles: [openai/gpt-4.1]}\n"
ONE = "{kind: tool, function: contains}"


class LettaEvalsSuite:
    """A folder with a suite of letta-evals 0.21 to 0.26; `graders` are by name, as in the YAML."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "suite.yaml"
        self.target = TARGET
        self.rows([{"input": "Find it."}])
        self.write()

    def write(self, graders=None, *, reward=None, more="", dataset="rows.jsonl"):
        graders = graders or {"main": ONE}
        named = "".join(f"  {name}: {entry}\n" for name, entry in graders.items())
        first = next(iter(graders))
        # A suite with a gate in `more` is one of an older release, without a reward.
        ends = reward or ("" if "gate" in more else f"{{kind: metric, metric_key: {first}}}")
        ends = f"reward: {ends}\n" if ends else ""
        text = f"name: case\ndataset: {dataset}\n{self.target}graders:\n{named}{ends}{more}\n"
        self.path.write_text(text, encoding="utf-8")

    def rows(self, rows):
        self.file("rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    def file(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def drive(self, agent, *, models="[m]"):
        """Let a function of ours be the agent from the next writing on."""
        self.file("agent.py", agent)
        self.target = f"target: {{kind: python, agent: 'agent.py:answer', models: {models}}}\n"

    def run(self):
        return harness.run(self.path, out=self.folder / "runs")

    def faults(self):
        """Return what `regrade validate` says, without the folder's path."""
        return [str(f).replace(f"{self.folder.as_posix()}/", "") for f in find_faults(self.path)]

    def samples(self):
        return list(open_dataset(load_suite(self.path)).samples())

    def grade(self, *trajectories):
        """Grade trajectories, or messages: the n-th is that of the sample called n."""
        named = {str(n): one for n, one in enumerate(trajectories)}
        return harness.grade(named, self.path, out=self.folder / "runs")

    def trial(self, trajectory):
        return next(self.grade(trajectory).trials())


def talk(*turns):
    """Return messages: for each turn the user's, then what the agent says (texts) or does."""
    messages = []
    for turn in turns:
        messages.append({"role": "user", "content": "Go on."})
        messages += [one if isinstance(one, dict) else say(one) for one in turn]
    return messages


def say(text):
    return {"role": "assistant", "content": text}


def call(*calls):
    """Return a message of calls, each (id, tool, arguments)."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": one, "type": "function", "function": {"name": name, "arguments": arguments}}
            for one, name, arguments in calls
        ],
    }


def answer(call_id, output):
    return {"role": "tool", "tool_call_id": call_id, "content": output}
