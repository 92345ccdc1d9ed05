import pytest

from harness.targets.http_templates import (
    TurnValues,
    fill_json,
    fill_text,
    fill_url,
    placeholders_in,
    template_problems,
)
from harness.types.errors import TargetError
from harness.types.protocols import AttemptContext
from harness.types.samples import Sample

SAMPLE = Sample(
    id="s/1",
    input="Hi {{model}}",
    ground_truth="secret answer",
    metadata={"number": 7, "none": None, "deep": {"list": [1, "x"]}, "with space": 1, "a-b": "c"},
    agent_args={"flag": True},
)
MESSAGES = ({"role": "user", "content": "a"}, {"role": "user", "content": "Hi"})


async def no_wait(_seconds):
    """Wait for nothing."""


CONTEXT = AttemptContext(sample=SAMPLE, model="m", epoch=2, attempt=1, fixtures={}, wait=no_wait)
VALUES = TurnValues(context=CONTEXT, text="Hi {{model}}", turn=3, messages=MESSAGES)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{input}}", "Hi {{model}}"),
        ("say: {{ input }}!", "say: Hi {{model}}!"),
        ("{{epoch}}", 2),
        ("{{epoch}}/{{attempt}}/{{turn}}", "2/1/3"),
        ({"a": ["{{metadata.number}}", {"b": "{{metadata.deep}}"}]},
         {"a": [7, {"b": {"list": [1, "x"]}}]}),
        ("{{metadata.deep.list}}", [1, "x"]),
        ("{{metadata.a-b}} {{metadata.deep}}", 'c {"list":[1,"x"]}'),
        ("{{metadata.none}}", None),
        ("<{{metadata.none}}>", "<>"),
        ("{{metadata.absent?}}", None),
        ("{{agent_args.flag}}", True),
        ("{{agent_args}}", {"flag": True}),
        ("{{session_id}}", None),
        ("{{sample.id}}", "s/1"),
        ("{{messages}}", list(MESSAGES)),
        ([{"role": "system"}, "{{messages}}"], [{"role": "system"}, *MESSAGES]),
        (["{{metadata.deep.list}}"], [[1, "x"]]),
        ([1, None, True, "{ {input} }", "{{}}", "{{1x}}"],
         [1, None, True, "{ {input} }", "{{}}", "{{1x}}"]),
    ],
)  # fmt: skip
def test_placeholders_become_values_and_nothing_is_evaluated(template, filled):
    assert fill_json(template, VALUES) == filled


@pytest.mark.parametrize(
    "name", ["metadata.absent", "metadata.number.x", "agent_args.flag.x", "extra_vars.x"]
)
@pytest.mark.parametrize("fill", [fill_json, fill_text, fill_url])
def test_what_the_sample_lacks_is_named(name, fill):
    with pytest.raises(TargetError, match=f"the sample has no {name}") as raised:
        fill(f"{{{{{name}}}}}", VALUES)
    assert raised.value.code == "bad_request"
    assert f"{{{{{name}?}}}}" in raised.value.hint


@pytest.mark.parametrize(
    ("url", "filled"),
    [
        ("http://h/{{sample.id}}/x", "http://h/s%2F1/x"),
        ("http://h/x?q={{input}}&n={{metadata.number}}", "http://h/x?q=Hi%20%7B%7Bmodel%7D%7D&n=7"),
    ],
)
def test_a_value_in_an_address_is_one_segment_or_one_value(url, filled):
    assert fill_url(url, VALUES) == filled


@pytest.mark.parametrize("text", ["", ".", ".."])
def test_a_value_that_leads_to_another_path_is_refused(text):
    values = TurnValues(context=CONTEXT, text=text)
    with pytest.raises(TargetError, match="no address can hold") as raised:
        fill_url("http://h/{{input}}/x", values)
    assert raised.value.code == "bad_request"


@pytest.mark.parametrize(
    ("template", "problems"),
    [
        ({"a": "{{input}} {{metadata.any.thing}} {{extra_vars}}"}, []),
        ({"a": "{{inptu}}"}, ['there is nothing to fill {{inptu}} with; did you mean "input"?']),
        (["{{ground_truth}}", "{{sample}}"], ["fill {{ground_truth}}", "fill {{sample}} with"]),
        ({"a": {"{{input}}": 1}}, ['the key "{{input}}" holds a placeholder']),
    ],
)
def test_what_nothing_fills_is_told_beforehand(template, problems):
    found = list(template_problems(template))
    assert len(found) == len(problems)
    assert all(told in text for text, told in zip(found, problems, strict=True))


def test_the_names_that_a_template_asks_for_are_those_of_its_values():
    template = {"{{model}}": ["{{input}}", {"x": "{{metadata.a}} {{turn}}"}]}
    assert placeholders_in(template) == {"input", "metadata.a", "turn"}
