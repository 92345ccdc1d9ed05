"""A model server on loopback that refuses requests by a seeded plan, and notes who is early."""

import asyncio
import random
from contextlib import asynccontextmanager

from aiohttp import web

from harness.system.clock import monotonic


class RefusingServer:
    """Answers with `headers` and 429, or a whole reply, as a seeded die says.

    `early` counts the requests that came before the time that their last refusal had named,
    `most_at_once` how many were served together.
    """

    def __init__(self, *, share=0.3, wait=1.0, headers=None, seconds=0.0):
        self._random = random.Random(0)
        self._share, self._wait, self._seconds = share, wait, seconds
        self._headers = {"Retry-After": f"{wait:g}"} if headers is None else headers
        self._due = {}
        self._at_once = 0
        self.times, self.refused, self.early, self.most_at_once = [], 0, 0, 0
        self.url = ""

    async def answer(self, request):
        body = await request.json()
        asked, came = body["messages"][-1]["content"], monotonic()
        self.times.append(came)
        self.early += came < self._due.get(asked, 0.0)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._at_once -= 1
        if self._random.random() < self._share:
            self.refused += 1
            self._due[asked] = monotonic() + self._wait
            return web.json_response({"error": {}}, status=429, headers=self._headers)
        return web.json_response(reply(f"the answer to {asked}"))


def reply(text, prompt_tokens=10, completion_tokens=5):
    """Give the body of a whole reply."""
    return {
        "object": "chat.completion",
        "model": "served",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        ],
        "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens},
    }


@asynccontextmanager
async def served(server, answer=None, *, ssl_context=None):
    """Serve `answer`, by default that of the server, as long as the context lasts."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer or server.answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    server.url = f"http{'s' if ssl_context else ''}://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        await runner.cleanup()


def suite_at(server, **more):
    """Give what the YAML of a suite would hold whose agent asks the server."""
    samples = more.pop("samples", 20)
    target = {"kind": "openai", "base_url": server.url, "models": ["m"], **more.pop("target", {})}
    return {
        "name": "paced",
        "samples": [
            {"id": f"s{n}", "input": f"question {n}", "ground_truth": f"question {n}"}
            for n in range(samples)
        ],
        "target": target,
        "graders": {"answers": {"kind": "tool", "function": "contains"}},
        **more,
    }
