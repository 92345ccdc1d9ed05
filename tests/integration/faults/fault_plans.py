"""Plans of faults: which request meets which fault, decided by a seed and never by the clock.

A plan is called with an `Asked` and returns a `Fault`, or None for none. What a request is, is told
by its key, so a plan says the same in whatever order requests come.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Literal

Kind = Literal["reset", "lost_reply", "delay", "cut", "cut_call", "garbage", "page", "status"]
End = Literal["close", "reset"]

KINDS = ("reset", "lost_reply", "delay", "cut", "cut_call", "garbage", "page", "status")
STATUSES = (429, 500, 502, 503, 529)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What the proxy does with one request.

    - `reset`: the connection breaks before the server hears of the request.
    - `lost_reply`: the server answers, and the connection breaks before the client hears of it.
    - `delay`: the request waits for `seconds`.
    - `cut`: the reply ends after the share `at` of its body, as `end` says.
    - `cut_call`: it ends inside the arguments of its first tool call, else as `cut`.
    - `garbage`: bytes that are no HTTP; `page`: a page of HTML with status 200.
    - `status`: an answer with `status` and, where `retry_after` is given, the header.
    """

    kind: Kind
    seconds: float = 0.0
    at: float = 0.5
    end: End = "close"
    status: int = 503
    retry_after: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request: what it is, the how-manieth of its kind (from 0), and of all.

    `talk` tells the conversation: the model, and what the user said first.
    """

    key: str
    nth: int
    number: int
    talk: tuple[str, str] | None = None


Plan = Callable[[Asked], Fault | None]


def key_of(body: bytes) -> str:
    """Tell requests apart by model, seed, what the user said, and how far the conversation is.

    What tools gave back is left out: it may differ from run to run.
    """
    try:
        asked = json.loads(body)
        messages = asked["messages"]
        said = [m["content"] for m in messages if m["role"] == "user"]
        value = [asked.get("model"), asked.get("seed"), said, [m["role"] for m in messages]]
    except (ValueError, TypeError, KeyError):
        return hashlib.sha256(body).hexdigest()
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def talk_of(body: bytes) -> tuple[str, str] | None:
    """Tell which conversation a request belongs to; None for no request of a model."""
    try:
        asked = json.loads(body)
        return asked["model"], next(m["content"] for m in asked["messages"] if m["role"] == "user")
    except (ValueError, TypeError, KeyError, StopIteration):
        return None


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """A share of all requests meets a fault of one of `kinds`; the same request at most `most`.

    `seconds` is the longest delay, `retry_after` the values of the header, one of which is sent
    with 429 and 503.
    """

    seed: int
    share: float = 0.3
    kinds: tuple[Kind, ...] = KINDS
    most: int = 2
    seconds: float = 0.05
    retry_after: tuple[str | None, ...] = (None, "0")

    def __call__(self, asked: Asked) -> Fault | None:
        """Draw the fault of one request."""
        draw = Random(f"{self.seed}:{asked.key}:{asked.nth}")
        if asked.nth >= self.most or draw.random() >= self.share:
            return None
        status = draw.choice(STATUSES)
        return Fault(
            kind=draw.choice(self.kinds),
            seconds=draw.random() * self.seconds,
            at=draw.random(),
            end=draw.choice(("close", "reset")),
            status=status,
            retry_after=draw.choice(self.retry_after) if status in {429, 503} else None,
        )


@dataclass(frozen=True, kw_only=True)
class Storm:
    """From one request on, so many are refused with 429."""

    first: int
    count: int
    retry_after: str | None = "1"

    def __call__(self, asked: Asked) -> Fault | None:
        """Refuse a request of the storm."""
        if not self.first <= asked.number < self.first + self.count:
            return None
        return Fault(kind="status", status=429, retry_after=self.retry_after)


@dataclass(frozen=True)
class Listed:
    """The first requests meet these faults, one after the other; None is none."""

    faults: tuple[Fault | None, ...] = field(default=())

    def __call__(self, asked: Asked) -> Fault | None:
        """Return the fault of the request's number."""
        return self.faults[asked.number] if asked.number < len(self.faults) else None


def first_of(*plans: Plan) -> Plan:
    """Return a plan that asks one plan after the other, until one has a fault."""

    def plan(asked: Asked) -> Fault | None:
        return next((fault for one in plans if (fault := one(asked)) is not None), None)

    return plan
