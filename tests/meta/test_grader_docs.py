"""`docs/graders.md` is whole and true: every grader and option is there, every example is run."""

import dataclasses
import re
from pathlib import Path

import pytest
import yaml
from fakes.conversations import read_conversation
from fakes.factories import make_sample

from graders.catalogue import GRADERS
from harness.grading.judging import grade_trajectory
from harness.types.suites import Limits, Suite

PAGE = (Path(__file__).parents[2] / "docs" / "graders.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^### (?P<name>\S+)\n(?P<text>.*?)(?=^##|\Z)", re.DOTALL | re.MULTILINE)
EXAMPLE = re.compile(
    r"```yaml\n(?P<entry>type: .*?)```\n\nPasses:\n\n```yaml\n(?P<good>.*?)```\n\n"
    r"Fails with `(?P<evidence>.*?)`:\n\n```yaml\n(?P<bad>.*?)```",
    re.DOTALL,
)
SECTIONS = {match["name"]: match["text"] for match in SECTION.finditer(PAGE)}
STATIC = [name for name, grader in GRADERS.items() if grader.taxonomy.determinism != "llm"]


async def grade_of(entry, text):
    given = yaml.safe_load(text)
    given = given if isinstance(given, dict) else {"events": given}
    samples = [{"input": "q"}]
    suite = Suite.from_mapping(
        {"name": "t", "samples": samples, "graders": {"it": yaml.safe_load(entry)}}
    )
    grades = await grade_trajectory(
        suite.graders,
        make_sample(ground_truth=given.get("ground_truth")),
        read_conversation(given["events"]),
        snapshots=given.get("state", {}),
        limits=Limits(),
    )
    return grades["it"]


def test_every_static_grader_has_a_section_and_nothing_else_has():
    assert sorted(SECTIONS) == sorted(STATIC)


@pytest.mark.parametrize("name", STATIC)
def test_the_table_names_every_option_with_its_description(name):
    rows = re.findall(r"^\| `(\w+)` \| (?:\\\||[^|])* \| (.*) \|$", SECTIONS[name], re.MULTILINE)
    fields = dataclasses.fields(GRADERS[name])
    options = {field.name: field.metadata["description"] for field in fields}
    assert {option: text for option, text in rows if option in options} == options


@pytest.mark.parametrize("name", STATIC)
async def test_the_examples_pass_and_fail_as_the_page_says(name):
    example = EXAMPLE.search(SECTIONS[name])
    assert example, SECTIONS[name]
    good = await grade_of(example["entry"], example["good"])
    assert (good.status, good.passed) == ("graded", True), good.evidence
    bad = await grade_of(example["entry"], example["bad"])
    assert (bad.status, bad.passed) == ("graded", False), bad.evidence
    assert bad.evidence == example["evidence"]
