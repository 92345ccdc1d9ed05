"""What the documents show works: links lead somewhere, suites load, samples and Python are read."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from harness.types.suites import Suite

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# (\w+\.(?:py|yaml))\n")
LINK = re.compile(r"\[[^\]\n]*\]\((?!https?://)([^)#\s]*)(?:#([\w-]+))?\)")
# What an example leaves out; the files are those of the quickstart.
REST = {
    "name": "example",
    "dataset": "samples.jsonl",
    "target": {
        "kind": "openai",
        "models": ["scripted/careful"],
        "script": "models.yaml",
        "tools": "tools.py",
    },
    "graders": {"correctness": {"type": "exit-success"}},
}


def blocks(page, language):
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for kind, text in found if kind == language]


def suites_of(page):
    """Give the examples that are a suite, or a part of one."""
    documents = map(yaml.safe_load, blocks(page, "yaml"))
    keys = {"target", "graders", "gates", "scoring", "reward"}
    return [one for one in documents if isinstance(one, dict) and not keys.isdisjoint(one)]


def anchors(page):
    text = re.sub(BLOCK, "", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def write_files(page, folder):
    """Write the files that a page's suites name: the quickstart's, and those that it shows."""
    shutil.copytree(ROOT / "suites" / "quickstart", folder, dirs_exist_ok=True)
    (folder / "repo").mkdir()
    for text in (*blocks(page, "python"), *blocks(page, "yaml")):
        if named := FILE.match(text):
            (folder / named[1]).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_title(page):
    broken = []
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        at = page.parent / path if path else page
        if not at.exists() or (anchor and anchor not in anchors(at)):
            broken.append(f"{path}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_suite_on_a_page_loads(page, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    write_files(page, tmp_path)
    for document in suites_of(page):
        suite = Suite.from_mapping({**REST, **document}, tmp_path)
        assert suite.warnings == ()


def test_samples_on_the_page_of_suites_are_read():
    page = ROOT / "docs" / "suites.md"
    samples = list(map(yaml.safe_load, "".join(blocks(page, "json")).splitlines()))
    suite = Suite.from_mapping({"name": "t", "samples": samples, "graders": REST["graders"]})
    assert [sample.id for sample in suite.samples] == [sample["id"] for sample in samples]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_a_page_is_python(page):
    for text in blocks(page, "python"):
        compile(text, page.name, "exec")
