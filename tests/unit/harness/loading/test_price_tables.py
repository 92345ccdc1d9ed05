"""What models cost, and who knows it."""

import msgspec
import pytest

from harness.loading.price_tables import Prices, cost_of
from harness.loading.suite_files import build_suite, load_suite
from harness.loading.validation import find_faults
from harness.types.errors import SuiteError
from harness.types.prices import Price
from harness.types.trajectories import Usage

PRICE = Price(input_per_million_usd=2.0, output_per_million_usd=8.0)
CACHED = Price(
    input_per_million_usd=2.0, output_per_million_usd=8.0, cached_input_per_million_usd=0.5
)
REPLY = Usage(input_tokens=1000, output_tokens=100)
SUITE = """\
name: priced
samples: [{{id: a, input: hello, ground_truth: x}}]
target: {{kind: openai, models: [{model}], base_url: "{url}"}}
graders: {{says: {{kind: tool, function: contains}}}}
limits: {{max_cost_usd: 1.5}}
"""


@pytest.mark.parametrize(
    ("price", "usage", "cost"),
    [
        (PRICE, REPLY, 0.0028),
        (PRICE, Usage(input_tokens=0, output_tokens=0), 0.0),
        (PRICE, Usage(input_tokens=1000), None),
        (PRICE, Usage(output_tokens=100), None),
        (PRICE, Usage(), None),
        (PRICE, msgspec.structs.replace(REPLY, cached_input_tokens=400), 0.0028),
        (CACHED, msgspec.structs.replace(REPLY, cached_input_tokens=400), 0.0022),
        (CACHED, msgspec.structs.replace(REPLY, cached_input_tokens=9000), 0.0013),
        (CACHED, REPLY, 0.0028),
    ],
)
def test_tokens_cost_what_the_suite_says_and_what_is_unknown_is_no_zero(price, usage, cost):
    assert cost_of(price, usage) == (None if cost is None else pytest.approx(cost))


def test_the_suite_goes_before_the_bill_and_the_bill_before_the_list():
    billed = msgspec.structs.replace(REPLY, cost_usd=0.5)
    assert Prices({"m": PRICE}).priced("m", billed, None).cost_usd == pytest.approx(0.0028)
    assert Prices({}).priced("openai/gpt-4.1", billed, None).cost_usd == 0.5
    listed = Prices({}).priced("openai/gpt-4.1", REPLY, None)
    assert listed.cost_usd == pytest.approx(0.0028)
    cached = msgspec.structs.replace(REPLY, cached_input_tokens=400)
    assert Prices({}).priced("gpt-4.1", cached, None).cost_usd < listed.cost_usd


@pytest.mark.parametrize(
    ("model", "url", "known"),
    [
        ("gpt-4.1", None, True),
        ("gpt-4.1", "https://api.openai.com/v1", True),
        ("openai/gpt-4.1", None, True),
        ("openai/gpt-4.1", "https://openrouter.ai/api/v1", True),
        ("gpt-4.1", "http://127.0.0.1:8000/v1", False),
        ("gpt-4.1", "https://models.example.com/v1", False),
        ("nobody/gpt-4.1", None, False),
        ("no-such-model", None, False),
        ("scripted/gpt-4.1", None, False),
        ("default", None, False),
        ("", None, False),
        ("[(*?" * 50, None, False),
    ],
)
def test_a_model_is_looked_up_where_it_is_asked(model, url, known):
    prices = Prices({})
    assert prices.knows(model, url) is known
    assert (prices.priced(model, REPLY, url).cost_usd is not None) is known


def test_a_sum_that_misses_replies_says_so():
    prices = Prices({"m": PRICE, "n": PRICE})
    for usage in (REPLY, Usage(), REPLY):
        prices.priced("m", usage, None)
    prices.priced("n", Usage(), None)
    prices.priced("unpriced", REPLY, None)
    (remark,) = prices.remarks()
    assert remark.startswith("m: 1 of 3 replies do not say what they used")


def write(tmp_path, text):
    path = tmp_path / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_cost_limit_on_a_model_without_a_price_is_a_fault_with_its_place(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of-a-test")
    path = write(tmp_path, SUITE.format(model="mine", url="http://127.0.0.1:1/v1"))
    (fault,) = find_faults(path)
    assert (fault.line, fault.path) == (5, "limits.max_cost_usd")
    assert '"mine"' in fault.problem
    assert "prices" in str(fault)
    # What was driven can be graded all the same.
    assert load_suite(path).limits.max_cost_usd == 1.5


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("mine", "prices: {mine: {input_per_million_usd: 1, output_per_million_usd: 2}}\n"),
        ("mine", "prices: {mine: {input_per_million_usd: 0, output_per_million_usd: 0}}\n"),
    ],
)
def test_a_price_in_the_suite_is_enough(tmp_path, monkeypatch, model, more):
    monkeypatch.setenv("OPENAI_API_KEY", "of-a-test")
    path = write(tmp_path, SUITE.format(model=model, url="http://127.0.0.1:1/v1") + more)
    assert find_faults(path) == ()
    assert load_suite(path).prices["mine"].output_per_million_usd in {0.0, 2.0}


def test_judges_need_a_price_too(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "of-a-test")
    text = SUITE.format(model="gpt-4.1", url="https://api.openai.com/v1").replace(
        "graders: {", "graders: {judged: {type: model_judge, config: {prompt: p, model: jay}}, "
    )
    (fault,) = find_faults(write(tmp_path, text))
    assert '"jay"' in fault.problem


@pytest.mark.parametrize(
    ("prices", "path", "told"),
    [
        ({"m": {"input_per_million_usd": 1}}, "prices.m", "output_per_million_usd"),
        (
            {"m": {"input_per_million_usd": -1, "output_per_million_usd": 1}},
            "prices.m.input_per_million_usd",
            "-1",
        ),
        (
            {"m": {"input_per_million": 1, "output_per_million_usd": 1}},
            "prices.m",
            "input_per_million",
        ),
        ({"m": 3}, "prices.m", "3"),
    ],
)
def test_a_price_that_is_none_is_a_fault(prices, path, told):
    document = {
        "name": "x",
        "samples": [{"id": "a", "input": "b"}],
        "graders": {"c": {"kind": "tool", "function": "contains"}},
        "prices": prices,
    }
    with pytest.raises(SuiteError) as raised:
        build_suite(document, ".")
    assert any(f.path.startswith(path) and told in str(f) for f in raised.value.faults)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("requests_per_minute", 0),
        ("tokens_per_minute", -1),
        ("max_cost_usd", 0),
        ("max_tokens", 0),
        ("max_tokens", 1.5),
        ("max_cost_usd", "much"),
    ],
)
def test_a_limit_that_is_none_is_a_fault(name, value):
    document = {
        "name": "x",
        "samples": [{"id": "a", "input": "b"}],
        "graders": {"c": {"kind": "tool", "function": "contains"}},
        "limits": {name: value},
    }
    with pytest.raises(SuiteError) as raised:
        build_suite(document, ".")
    assert [fault.path for fault in raised.value.faults] == [f"limits.{name}"]
