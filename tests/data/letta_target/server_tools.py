"""Tools for agents on a Letta server: they live there without this file."""

import json
import time

TRAINS = {"cart-api": "rt_4f1c09a2b7d3e658", "login-portal": "rt_91be5d7730c4a2f6"}


def _train(service):
    return TRAINS.get(service, "rt_0000000000000000")


def train_of(service: str) -> str:
    """Look up the release train of a service.

    Args:
        service: The service's name.
    """
    print("looking up", service)  # noqa: T201  (what a tool prints is recorded)
    return json.dumps({"service": service, "release_id": _train(service)})


def owner_of(service: str) -> str:
    """Find the team that owns a service.

    Args:
        service: The service's name.
    """
    return f"Team Anchor owns {service}"


def go_bang(reason: str) -> str:
    """Raise an error.

    Args:
        reason: Why.
    """
    print("before the bang")  # noqa: T201  (what a tool prints is recorded)
    raise RuntimeError(f"boom: {reason}")


def roll_out(version: str) -> str:
    """Roll a release out.

    Args:
        version: Its version.
    """
    time.sleep(0)
    return f"rolled out {version}"
