"""What a night that has regressed says to do next, followed as it stands in a real repository."""

import json
import re
import shlex
import subprocess

from fakes.ran_commands import regrade

AGENT = """
async def agent(sample):
    return "no" if int(sample.id[1:]) < BROKEN else "yes"
"""
SUITE = """
name: nightly
dataset: samples.jsonl
target: {kind: python, agent: "agent.py:agent"}
graders:
  right: {kind: tool, function: contains}
"""


def git(folder, *words):
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def commit(folder, broken):
    text = AGENT.replace("BROKEN", str(broken))
    (folder / "agent.py").write_text(text, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "a version")


def _found(folder, word):
    """Return what a shell makes of a word: a pattern with `*` takes no dot files."""
    return str(next(folder.glob(word.replace("*", "[!.]*")))) if "*" in word else word


def test_the_commands_of_the_next_step_confirm_the_regression(tmp_path):
    folder = tmp_path / "now"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("runs\nconfirm\n__pycache__\n", encoding="utf-8")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    rows = [{"id": f"s{n}", "input": "?", "ground_truth": "yes"} for n in range(40)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "samples.jsonl").write_text(text, encoding="utf-8")
    for broken in (0, 12):
        commit(folder, broken)
        regrade(folder, "run", "suite.yaml", "--baseline", "latest", "--quiet")
    (page,) = (
        one
        for one in folder.glob("runs/[!.]*/summary.md")
        if "REGRESSED" in one.read_text(encoding="utf-8")
    )
    said = page.read_text(encoding="utf-8")
    (line,) = re.findall(r"^\*\*Next:\*\*.*", said, re.MULTILINE)
    assert f"regrade baseline set {page.parent.name}." in line
    assert len(said.splitlines()) < 40
    commands = line.split("`")[-2].split("; ")
    code = 0
    for command in commands:
        first, *words = shlex.split(command)
        if first == "git":
            git(folder, *words)
            continue
        places = [_found(folder, one) for one in words]
        code, out, err = regrade(folder, *places)
    assert code == 1, err
    assert "REGRESSED (confirmed)" in out
