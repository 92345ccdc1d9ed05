"""Runs against endpoints that refuse, over real HTTP: their pace, their money, their end."""

import asyncio
import json

import pytest
from aiohttp import web
from integration.refusing_server import RefusingServer, reply, served, suite_at

from harness.loading.suite_files import build_suite
from harness.running.resuming import Resume
from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.running.workers import Stop
from harness.types.errors import SuiteError
from harness.types.progress import SilentObserver

PRICE = {"m": {"input_per_million_usd": 100.0, "output_per_million_usd": 0.0}}
"""A request of a hundred tokens costs a cent."""


class Watcher(SilentObserver):
    """Notes how far a model was slowed down."""

    least, slowed = 10**9, ()

    def moved(self, progress, /):
        self.slowed = progress.slowed
        for _, most in progress.slowed:
            self.least = min(self.least, most)


async def run(folder, document, watcher=None, **options):
    """Run a suite; give the result."""
    suite = build_suite(document, folder)
    return await execute(suite, RunOptions(out=folder / "runs", **options), watcher)


def trials_of(result):
    """Read what was stored."""
    text = (result.folder / "trials.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


class Costly:
    """Answers at a price, and counts; `gate` may hold answers back."""

    def __init__(self, tokens=100):
        self.tokens, self.asked, self.most_at_once, self._at_once = tokens, 0, 0, 0
        self.url = ""

    async def answer(self, request):
        self.asked += 1
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(0.02)
        self._at_once -= 1
        said = (await request.json())["messages"][-1]["content"]
        return web.json_response(reply(said, prompt_tokens=self.tokens, completion_tokens=0))


async def test_a_run_that_is_refused_a_third_of_the_time_ends_without_an_error(tmp_path):
    server, watcher = RefusingServer(wait=0.2, seconds=0.002), Watcher()
    async with served(server):
        result = await run(tmp_path, suite_at(server, samples=300), watcher)
    (model,) = result.summary.models.values()
    assert result.summary.passed
    assert (model.passed, model.errors) == (300, 0)
    assert server.refused > 60
    assert server.early == 0
    assert watcher.least < 10
    assert all(len(trial["attempts"]) == 1 for trial in trials_of(result))


async def test_without_refusals_all_places_are_used_and_nobody_is_slowed(tmp_path):
    server, watcher = RefusingServer(share=0.0, seconds=0.02), Watcher()
    async with served(server):
        document = suite_at(server, samples=60, limits={"concurrency": 12})
        await run(tmp_path, document, watcher)
    assert server.most_at_once == 12
    assert watcher.least == 10**9


async def test_trials_that_wait_leave_their_places_to_others(tmp_path):
    refused = set()

    async def answer(request):
        asked = (await request.json())["messages"][-1]["content"]
        if asked in {"question 0", "question 1"} and asked not in refused:
            refused.add(asked)
            return web.json_response({}, status=429, headers={"Retry-After": "1"})
        return web.json_response(reply(asked))

    server = RefusingServer()
    async with served(server, answer):
        document = suite_at(server, samples=40, limits={"concurrency": 4})
        result = await run(tmp_path, document)
    order = [trial["sample_id"] for trial in trials_of(result)]
    assert set(order[-2:]) == {"s0", "s1"}
    assert result.summary.passed


async def test_waiting_for_a_place_is_charged_to_no_time_limit(tmp_path):
    refused = set()

    async def answer(request):
        asked = (await request.json())["messages"][-1]["content"]
        if len(refused) < 5 and asked not in refused:
            refused.add(asked)
            return web.json_response({}, status=429, headers={"Retry-After": "0"})
        await asyncio.sleep(0.1)
        return web.json_response(reply(asked))

    server = RefusingServer()
    async with served(server, answer):
        limits = {"concurrency": 16, "turn_seconds": 0.5, "trial_seconds": 0.5}
        result = await run(tmp_path, suite_at(server, samples=32, limits=limits))
    assert result.summary.passed


async def test_a_model_that_is_refused_holds_up_no_other(tmp_path):
    served_at = {"slow": [], "fast": []}

    async def answer(request):
        body = await request.json()
        served_at[body["model"]].append(asyncio.get_running_loop().time())
        if body["model"] == "slow" and len(served_at["slow"]) < 30:
            return web.json_response({}, status=429, headers={"Retry-After": "0.3"})
        return web.json_response(reply(body["messages"][-1]["content"]))

    server = RefusingServer()
    async with served(server, answer):
        target = {"models": ["slow", "fast"]}
        document = suite_at(server, samples=12, target=target, limits={"concurrency": 6})
        result = await run(tmp_path, document)
    assert result.summary.passed
    assert max(served_at["fast"]) < max(served_at["slow"])


@pytest.mark.parametrize("turns", [1, 2])
async def test_requests_come_no_faster_than_the_suite_allows(tmp_path, turns):
    server = RefusingServer(share=0.0)
    async with served(server):
        limits = {"requests_per_minute": 600, "turn_seconds": 0.5, "concurrency": 12}
        document = suite_at(server, samples=12 // turns, limits=limits)
        for sample in document["samples"]:
            sample["input"] = [f"{sample['input']} {n}" for n in range(turns)]
        result = await run(tmp_path, document)
    gaps = [later - one for one, later in zip(server.times, server.times[1:], strict=False)]
    assert len(server.times) == 12
    assert sum(gaps) >= 1.0
    assert result.summary.models["m"].agent_failures == 0


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (401, {"error": {"code": "invalid_api_key"}}, "unauthorized"),
        (403, {}, "forbidden"),
        (404, {"error": {"code": "model_not_found"}}, "not_found"),
        (429, {"error": {"code": "insufficient_quota"}}, "quota_exhausted"),
    ],
)
async def test_an_error_that_every_trial_would_meet_stops_the_run(tmp_path, status, body, code):
    asked = []

    async def answer(_request):
        asked.append(1)
        return web.json_response(body, status=status)

    server = RefusingServer()
    async with served(server, answer):
        document = suite_at(server, samples=500, limits={"concurrency": 8})
        result = await run(tmp_path, document)
    summary = result.summary
    assert 5 <= len(asked) <= 5 + 8
    assert len(trials_of(result)) == len(asked)
    assert not summary.complete
    assert not result.interrupted
    (reason,) = (line for line in summary.reasons if "no further trial" in line)
    assert f"m was started, for 5 in a row ended in {code}" in reason


async def test_a_model_that_nobody_knows_leaves_the_others_to_their_end(tmp_path):
    async def answer(request):
        body = await request.json()
        if body["model"] == "misspelt":
            return web.json_response({}, status=404)
        return web.json_response(reply(body["messages"][-1]["content"]))

    server = RefusingServer()
    async with served(server, answer):
        target = {"models": ["misspelt", "m"]}
        document = suite_at(server, samples=100, target=target, limits={"concurrency": 4})
        result = await run(tmp_path, document)
    models = result.summary.models
    assert models["m"].passed == 100
    assert 5 <= models["misspelt"].trials <= 9
    assert not result.summary.complete


async def test_a_server_that_is_down_stops_the_run_and_is_waited_for_first(tmp_path):
    server = RefusingServer()
    async with served(server):
        pass
    document = suite_at(server, samples=100, retries={"attempts": 1, "max_wait_seconds": 0.5})
    result = await run(tmp_path, {**document, "limits": {"concurrency": 3}})
    assert 5 <= len(trials_of(result)) <= 8
    assert any("connection_refused" in reason for reason in result.summary.reasons)


async def test_money_ends_a_run_in_order_and_what_is_left_is_resumed(tmp_path):
    server = Costly()
    async with served(server):
        limits = {"max_cost_usd": 0.2, "concurrency": 5}
        document = suite_at(
            server, samples=50, limits=limits, prices=PRICE, retries={"attempts": 1}
        )
        result = await run(tmp_path, document)
        summary = result.summary
        assert server.asked == 20
        assert summary.models["m"].usage.cost_usd == pytest.approx(0.2)
        assert not summary.complete
        assert not result.interrupted
        assert any("max_cost_usd 0.2 ended the run" in reason for reason in summary.reasons)
        # What was spent before counts on.
        again = await resumed(tmp_path, document, result)
        assert server.asked == 20
        assert not again.summary.complete
        document["limits"]["max_cost_usd"] = 1.0
        whole = await resumed(tmp_path, document, result)
    assert whole.summary.passed
    assert server.asked == 50


async def resumed(folder, document, result):
    suite = build_suite(document, folder)
    resume = Resume(folder=result.folder)
    return await execute(suite, RunOptions(out=folder / "runs"), resume=resume)


async def test_replies_that_cost_more_than_was_thought_end_trials_before_their_next(tmp_path):
    server = Costly()

    async def answer(request):
        if server.asked >= 5:
            server.tokens = 10_000
        return await server.answer(request)

    async with served(server, answer):
        limits = {"max_cost_usd": 1.0, "concurrency": 4}
        document = suite_at(
            server, samples=30, limits=limits, prices=PRICE, retries={"attempts": 1}
        )
        for sample in document["samples"]:
            sample["input"] = [f"{sample['input']} {n}" for n in range(3)]
        result = await run(tmp_path, document)
    statuses = [trial["status"] for trial in trials_of(result)]
    assert "interrupted" in statuses
    spent = sum(trial["usage"]["cost_usd"] or 0 for trial in trials_of(result))
    # A dollar a reply, and four in flight.
    assert 1.0 < spent <= 1.0 + 4 * 1.0
    assert result.summary.models["m"].trials == statuses.count("completed")
    assert any("it was passed" in reason for reason in result.summary.reasons)
    assert any("over by" in warning for warning in result.summary.warnings)


async def test_the_first_trial_runs_alone_where_money_is_limited(tmp_path):
    at_once = []

    class Noting(Costly):
        async def answer(self, request):
            at_once.append(self._at_once)
            return await super().answer(request)

    server = Noting()
    async with served(server):
        document = suite_at(server, samples=20, limits={"max_tokens": 100_000, "concurrency": 6})
        result = await run(tmp_path, document)
    assert at_once[:2] == [0, 0]
    assert server.most_at_once == 6
    assert result.summary.passed


async def test_a_cost_limit_without_a_price_refuses_the_run_before_anything_is_asked(tmp_path):
    server = Costly()
    async with served(server):
        document = suite_at(server, limits={"max_cost_usd": 1.0})
        with pytest.raises(SuiteError, match="max_cost_usd"):
            await run(tmp_path, document)
    assert server.asked == 0
    assert list(tmp_path.iterdir()) == []


async def test_replies_without_numbers_end_a_run_whose_tokens_are_limited(tmp_path):
    async def answer(request):
        body = reply((await request.json())["messages"][-1]["content"])
        del body["usage"]
        return web.json_response(body)

    server = RefusingServer()
    async with served(server, answer):
        result = await run(tmp_path, suite_at(server, limits={"max_tokens": 1000}))
    assert len(trials_of(result)) == 1
    assert any("do not say what they used" in reason for reason in result.summary.reasons)


async def test_judges_are_priced_and_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("REGRADE_CACHE", str(tmp_path / "cache"))
    agents, judges = Costly(), RefusingServer()

    async def judge(_request):
        return web.json_response(reply('{"score": 1.0, "rationale": "r"}', prompt_tokens=200))

    async with served(agents), served(judges, judge):
        grader = {
            "type": "model_judge",
            "config": {"prompt": "p", "model": "jay", "base_url": judges.url, "cache": False},
        }
        price = {**PRICE["m"]}
        document = suite_at(agents, samples=50, limits={"max_cost_usd": 0.3, "concurrency": 4})
        document |= {"graders": {"judged": grader}, "prices": {"m": price, "jay": price}}
        document["retries"] = {"attempts": 1}
        result = await run(tmp_path, document)
    model = result.summary.models["m"]
    # A cent for the agent and two for its judge.
    assert model.trials == 10
    assert model.usage.cost_usd == pytest.approx(0.1)
    assert model.judge_usage.cost_usd == pytest.approx(0.2)
    assert any("max_cost_usd" in reason for reason in result.summary.reasons)


async def test_prices_of_the_suite_stand_in_the_numbers_and_unknown_ones_are_null(tmp_path):
    server = Costly()
    async with served(server):
        document = suite_at(server, samples=3, prices=PRICE, target={"models": ["m", "unpriced"]})
        result = await run(tmp_path, document)
    assert result.summary.models["m"].usage.cost_usd == pytest.approx(0.03)
    assert result.summary.models["unpriced"].usage.cost_usd is None


async def test_a_resumed_run_knows_what_a_trial_costs_and_drives_none_that_might_not_fit(tmp_path):
    server = Costly()
    async with served(server):
        limits = {"max_cost_usd": 0.175, "concurrency": 2}
        document = suite_at(server, prices=PRICE, limits=limits, retries={"attempts": 2})
        result = await run(tmp_path, document)
        asked = server.asked
        assert result.summary.models["m"].usage.cost_usd < 0.175
        for _ in range(3):
            again = await resumed(tmp_path, document, result)
            assert any("might not fit" in reason for reason in again.summary.reasons)
    assert server.asked == asked


async def test_what_was_cut_off_is_known_to_a_resumed_run_as_what_a_trial_costs(tmp_path):
    server, stop, over = Costly(), Stop(), asyncio.Event()

    async def answer(request):
        body = await server.answer(request)
        if server.asked == 2:
            stop.ask("enough")
            await over.wait()
        return body

    async with served(server, answer):
        document = suite_at(server, prices=PRICE, limits={"max_cost_usd": 0.015})
        document["samples"] = [{"id": "s", "input": ["one", "two"]}]
        suite = build_suite(document, tmp_path)
        cut = await execute(suite, RunOptions(out=tmp_path / "runs"), None, stop)
        assert [trial["status"] for trial in trials_of(cut)] == ["interrupted"]
        again = await resumed(tmp_path, document, cut)
        over.set()
    assert server.asked == 2
    assert again.summary.models["m"].usage.cost_usd == pytest.approx(0.01)


async def test_a_model_that_never_said_what_it_used_is_known_to_a_resumed_run(tmp_path):
    async def answer(request):
        asked.append(1)
        body = reply((await request.json())["messages"][-1]["content"])
        if not says:
            del body["usage"]
        return web.json_response(body)

    server, asked, says = RefusingServer(), [], []
    async with served(server, answer):
        document = suite_at(server, limits={"max_tokens": 1000})
        result = await run(tmp_path, document)
        for _ in range(3):
            again = await resumed(tmp_path, document, result)
            assert any("do not say what they used" in one for one in again.summary.reasons)
        assert len(asked) == 1
        # Another target may say it.
        says.append(1)
        document["target"]["request"] = {"temperature": 0.5}
        whole = await resumed(tmp_path, document, result)
    assert whole.summary.complete


async def test_a_price_that_came_later_tells_what_was_spent_before(tmp_path):
    server = Costly()
    async with served(server):
        document = suite_at(server, samples=3)
        result = await run(tmp_path, document)
        document |= {"prices": PRICE, "limits": {"max_cost_usd": 0.035}}
        document["samples"] = [{"id": f"new{n}", "input": f"new {n}"} for n in range(3)]
        again = await resumed(tmp_path, document, result)
    assert server.asked == 3
    assert any("might not fit" in reason for reason in again.summary.reasons)
