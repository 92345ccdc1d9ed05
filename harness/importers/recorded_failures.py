"""What another tool says went wrong: its words come in, the end of a trial goes out."""

from typing import Any

from harness.endpoints.error_bodies import code_of_error, read_error_body
from harness.messages.contents import type_name
from harness.system.json_values import compact_json
from harness.types.errors import POLICIES
from harness.types.trials import Failure, TrialStatus


def read_outage(error: Any) -> Failure:
    """Return the failure that an error of a model's endpoint, or of the tool itself, is.

    `error` is a text, or an object as endpoints send it; its code is told from its words.
    """
    body = read_error_body(error, otherwise=type_name(error))
    message = body.message if isinstance(error, str | dict) else compact_json(error)
    return Failure(code=code_of_error(body), message=message)


def status_of(failure: Failure | None) -> TrialStatus:
    """Return the status of a trial that ends so."""
    return "completed" if failure is None else POLICIES[failure.code].status
