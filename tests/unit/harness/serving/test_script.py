from pathlib import Path

import pytest

from harness.serving.script import parse_script, read_script
from harness.types.errors import SuiteError

DATA = Path(__file__).parents[3] / "data" / "serving"


def collect_faults(text: str) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        parse_script(text, "f")
    return [str(fault) for fault in caught.value.faults]


def test_a_script_is_read_with_all_that_a_rule_can_say():
    script = read_script(DATA / "troubles.yaml")
    assert script.seed == 7
    assert [rule.name for rule in script.models["calls"]][:2] == ["two at once", "raw"]
    assert [call.tool for call in script.models["calls"][0].call] == ["add", "add", "note"]


def test_a_single_tool_may_be_named_without_a_list():
    script = parse_script("models: {a: [{when: {answered: x}, say: hi}, {say: ho}]}", "f")
    assert script.models["a"][0].when.answered == ("x",)


def test_like_takes_over_the_rules_of_another_model():
    script = parse_script("models: {a: [say: hi], b: [{when: {turn: 1}, say: x}, like: a]}", "f")
    assert [rule.say for rule in script.models["b"]] == ["x", "hi"]


def test_all_faults_of_a_script_are_reported_at_once_with_their_places():
    with pytest.raises(SuiteError) as caught:
        read_script(DATA / "faulty.yaml")
    lines = [str(fault).partition("faulty.yaml:")[2] for fault in caught.value.faults]
    assert [line.partition("; ")[0] for line in lines] == [
        "3:20: models.first[0].when.user: invalid pattern: missing ) at position 2",
        "4:12: models.first[0].say: no value 'servise'",
        "5:7: models.first[1]: the rules below this one are never reached",
        "5:7: models.first[1]: a rule without an answer",
        "6:7: models.first[2]: the rules below this one are never reached",
        "6:12: models.first[2].say: a single brace '{' at character 7",
        '7:16: duplicate key "say"',
        "8:13: models.first[3].like: no model 'frist' further up in the script",
        "8:13: models.first[3].like: `like` stands alone",
        "10:5: models.scripted/second: a name that begins with 'scripted/'",
        "10:21: models.scripted/second[0].invent.id: nothing is invented by {hexx:4}",
        "11:13: models.scripted/second[0].call: {id:number} cannot be used here",
        "12:10: models.third: a model without rules",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "f: the file is empty; write a mapping"),
        ("- a", "f:1:1: found a list; a mapping of options"),
        ("models: {}", "f:1:9: models: no models; at least one"),
        ("seed: 1", 'f:1:1: "models" is missing'),
        ("models: {a: [say: x]}\nsed: 1", 'f:2:1: sed: unknown key "sed"; did you mean "seed"?'),
        ("models: {a: [say: x]}\nseed: 010", "f:2:7: seed: the number 010 begins with a zero"),
        ("models: {a: [say: x]}\nmodels: {}", 'f:2:1: duplicate key "models"'),
        ("models: {a: {say: x}}", "f:1:13: models.a: found a mapping; a list of mappings"),
        ("models: {a: [say]}", "f:1:14: models.a[0]: found the text 'say'; a mapping of options"),
        ("models: {a: [sy: x]}", 'f:1:14: models.a[0].sy: unknown key "sy"; did you mean "say"?'),
        ("models: {a: [say: [x]]}", "f:1:19: models.a[0].say: found a list; a text"),
        (
            "models: {a: [{say: x, when: {usr: x}}]}",
            'f:1:30: models.a[0].when.usr: unknown key "usr"; did you mean "user"?',
        ),
        (
            "models: {a: [{say: x, when: {chance: 2}}]}",
            "f:1:38: models.a[0].when.chance: found 2; at most 1",
        ),
        (
            "models: {a: [{say: x, when: {turn: true}}]}",
            "f:1:36: models.a[0].when.turn: found true; a whole number",
        ),
        (
            "models: {a: [{say: x, when: {answered: {b: c}}}]}",
            "f:1:40: models.a[0].when.answered: found a mapping; a text or a list of texts",
        ),
        (
            "models: {a: [{say: x, cut: maybe}]}",
            "f:1:28: models.a[0].cut: found the text 'maybe'; allowed: false, quietly, true",
        ),
        ("models: {a: [{call: look}]}", "f:1:21: models.a[0].call: calls are written as {tool:"),
        ("models: {a: [call: {t: 3}]}", "f:1:20: models.a[0].call: the arguments of 't' are"),
        ("models: {a: [{status: 429, call: {t: {}}}]}", "f:1:23: models.a[0].status: a refused"),
        ("models: {a: [{garbage: x, say: y}]}", "f:1:24: models.a[0].garbage: garbage is sent"),
        ("models: {a: [{say: x, code: y}]}", "f:1:29: models.a[0].code: nothing is refused"),
        (
            "models: {a: [{say: x, status: 200}]}",
            "f:1:31: models.a[0].status: found 200; at least 400",
        ),
        ("models: {a: [say: !x y]}", "f:1:19: the tag !x has no meaning here"),
        (
            "models: {a: [{say: '{x}', when: {user: '(?P<x>a)', earlier: '(?P<x>b)'}}]}",
            "f:1:14: models.a[0]: the value 'x' is given more than once",
        ),
    ],
)
def test_a_fault_says_what_is_wrong_and_what_is_allowed(text, fault):
    faults = collect_faults(text)
    assert faults[0].startswith(fault)
    assert len(faults) == 1


def test_a_script_is_written_as_a_suite_is():
    script = parse_script(
        "models:\n"
        "  a:\n"
        "    - &rule {say: 1.10, when: {results: {t: 010}}}\n"
        "    - {<<: *rule, call: {t: {n: 7, v: 1.5, z: 010, b: true, d: 2031-02-03}}}\n",
        "f",
    )
    one, two = script.models["a"]
    assert (one.say, two.say, one.when.results) == ("1.10", "1.10", {"t": "010"})
    arguments = {"n": 7, "v": 1.5, "z": "010", "b": True, "d": "2031-02-03"}
    assert two.call[0].arguments == arguments


@pytest.mark.parametrize("name", ["with_bom.yaml", "with_crlf.yaml"])
def test_byte_order_marks_and_crlf_make_no_difference(name, tmp_path):
    text = "models:\n  a:\n    - say: hällo\n"
    raw = text.encode("utf-8-sig") if "bom" in name else text.replace("\n", "\r\n").encode()
    (tmp_path / name).write_bytes(raw)
    assert read_script(tmp_path / name).models["a"][0].say == "hällo"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [(b"models: \xff", "the byte 0xFF is not UTF-8"), (None, "cannot be read: No such file")],
)
def test_a_file_that_cannot_be_read_is_a_fault(raw, problem, tmp_path):
    path = tmp_path / "script.yaml"
    if raw is not None:
        path.write_bytes(raw)
    with pytest.raises(SuiteError, match=problem):
        read_script(path)
