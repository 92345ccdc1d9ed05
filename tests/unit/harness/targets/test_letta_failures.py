import httpx
import letta_client
import pytest

from harness.messages.letta_replies import LettaFailure
from harness.targets.letta_addresses import key_hint
from harness.targets.letta_failures import letta_failure, reported_failure, stop_failure

REQUEST = httpx.Request("POST", "http://127.0.0.1:8283/v1/agents/agent-1/messages?x=1")
OPENAI = "Error code: {} - {{'error': {{'message': '{}', 'code': {}}}}}"


def status_error(status, body):
    response = httpx.Response(status, request=REQUEST, json=body)
    kind = type("Failed", (letta_client.APIStatusError,), {})
    return kind(f"Error code: {status}", response=response, body=body)


def model_error(kind, detail):
    return {"error": {"type": kind, "message": "An error.", "detail": detail}}


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (404, {"detail": "Agent with ID agent-1 not found"}, "not_found"),
        (404, {"detail": "NOT_FOUND: Handle openai/none not found"}, "not_found"),
        (422, {"detail": "[{'type': 'string_pattern_mismatch'}]"}, "bad_request"),
        (400, {"detail": "INVALID_ARGUMENT: Embedding model openai/none not found"}, "bad_request"),
        (400, {"detail": "CONTEXT_WINDOW_EXCEEDED: Bad request"}, "context_length"),
        (400, {"detail": "1 validation error for ChatCompletion\nid\n  Missing"}, "bad_reply"),
        (401, {"detail": "Unauthorized"}, "unauthorized"),
        (409, {"detail": {"code": "PENDING_APPROVAL", "message": "CONFLICT: ..."}}, "bad_request"),
        (409, {"detail": "Another request is currently being processed"}, "server_error"),
        (500, {"detail": "An unknown error occurred"}, "server_error"),
        (503, {"detail": "The database is down"}, "overloaded"),
        (429, model_error("llm_rate_limit", "RATE_LIMIT_EXCEEDED: Slow down."), "rate_limited"),
        (429, model_error("llm_rate_limit", "RATE_LIMIT_EXCEEDED: insufficient_quota"),
         "quota_exhausted"),
        (402, model_error("llm_insufficient_credits", "No credit."), "quota_exhausted"),
        (500, model_error("llm_error", "INTERNAL_SERVER_ERROR: OpenAI API error"), "server_error"),
        (500, model_error("llm_error", "NOT_FOUND: Model not found in OpenAI"), "not_found"),
        (401, model_error("llm_authentication", "UNAUTHENTICATED: no"), "unauthorized"),
        (400, model_error("llm_bad_request", "INVALID_ARGUMENT: Bad request"), "bad_request"),
        (400, model_error("llm_bad_request", "INVALID_ARGUMENT: maximum context length is 100"),
         "context_length"),
        (504, model_error("llm_timeout", "TIMEOUT: too slow"), "connection_lost"),
        (418, "tea", "bad_request"),
        (502, None, "server_error"),
    ],
)  # fmt: skip
def test_the_code_of_a_refusal_follows_what_the_server_says(status, body, code):
    failed = letta_failure(status_error(status, body))
    assert failed.code == code
    assert str(failed).startswith("POST http://127.0.0.1:8283/v1/agents/agent-1/messages: ")
    assert "x=1" not in str(failed)


def test_a_refused_key_is_told_from_one_of_the_models_provider():
    own = letta_failure(status_error(401, {"detail": "Unauthorized"}))
    body = model_error("llm_authentication", "UNAUTHENTICATED: no")
    of_the_model = letta_failure(status_error(401, body))
    assert "api_key_env" in own.hint
    assert "provider" in of_the_model.hint


@pytest.mark.parametrize(
    ("key", "variable", "told"),
    [
        (None, "", "there is no key: the environment variable NOKEY is not set"),
        (None, "wrong", "the key is that of the environment variable NOKEY"),
        ("wrong", "", "the key is that of target.api_key"),
    ],
)
def test_a_refusal_says_where_the_key_came_from(monkeypatch, key, variable, told):
    monkeypatch.setenv("NOKEY", variable)
    hint = key_hint(key=key, variable="NOKEY")
    refused = status_error(401, {"detail": "Unauthorized"})
    assert letta_failure(refused, key_hint=hint).hint == told
    missing = status_error(404, {"detail": "NOT_FOUND: x"})
    assert letta_failure(missing, key_hint=hint).hint != told


@pytest.mark.parametrize(
    ("detail", "hint"),
    [
        ("Not Found", "without a path such as /v1"),
        ("Agent with ID agent-1 not found", "check that id"),
        ("NOT_FOUND: Handle openai/none not found", "model's name"),
    ],
)
def test_what_is_not_there_says_what_to_check(detail, hint):
    assert hint in letta_failure(status_error(404, {"detail": detail})).hint


def test_a_request_of_the_wrong_form_is_told_by_its_fields():
    detail = "[{'type': 'missing', 'loc': ('body', 'name'), 'msg': 'Field required'}]"
    failed = letta_failure(status_error(422, {"trace_id": "", "detail": detail}))
    assert str(failed).endswith("422: name: Field required")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (letta_client.APIConnectionError(request=REQUEST), "connection_lost"),
        (letta_client.APITimeoutError(request=REQUEST), "connection_lost"),
        (httpx.ReadTimeout("timed out", request=REQUEST), "connection_lost"),
        (httpx.RemoteProtocolError("peer closed", request=REQUEST), "connection_lost"),
        (httpx.ReadError("reset", request=REQUEST), "connection_lost"),
    ],
)
def test_a_lost_server_is_an_outage(error, code):
    failed = letta_failure(error)
    assert failed.code == code
    assert failed.policy.retried


def test_a_server_that_is_down_refuses_the_connection():
    error = letta_client.APIConnectionError(request=REQUEST)
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert letta_failure(error).code == "connection_refused"


@pytest.mark.parametrize("error", [ValueError("empty id"), KeyError("x")])
def test_what_no_server_raised_is_no_failure_of_one(error):
    assert letta_failure(error) is None


@pytest.mark.parametrize(
    ("kind", "detail", "code"),
    [
        ("llm_rate_limit", "RATE_LIMIT_EXCEEDED: " + OPENAI.format(429, "Slow", "None"),
         "rate_limited"),
        ("llm_error", "INVALID_ARGUMENT: " + OPENAI.format(400, "Odd", "None"), "bad_request"),
        ("llm_error", "NOT_FOUND: no model", "not_found"),
        ("llm_error", "", "server_error"),
        ("llm_empty_response", "nothing", "bad_reply"),
        ("internal_error", "CONTEXT_WINDOW_EXCEEDED: too long", "context_length"),
        ("internal_error", "Unhandled LLM error: Expecting value", "server_error"),
        ("internal_error", "CONFLICT: The agent is waiting for approval on a tool call.",
         "bad_request"),
        ("stream_incomplete", "", "stream_cut"),
        ("never heard of", "", "server_error"),
    ],
)  # fmt: skip
def test_the_code_of_an_error_in_a_stream_follows_its_type_and_its_word(kind, detail, code):
    told = LettaFailure(kind=kind, message="An error.", detail=detail)
    assert reported_failure(told, place="agent-1").code == code


def test_no_failure_shows_a_secret():
    told = LettaFailure(kind="llm_error", detail="the key open-sesame is wrong\nreally")
    failed = reported_failure(told, place="agent-1", secrets=["open-sesame"])
    assert "open-sesame" not in str(failed)
    assert "\n" not in str(failed)


@pytest.mark.parametrize(
    ("stop_reason", "answered", "code"),
    [
        ("end_turn", True, None),
        ("end_turn", False, "bad_reply"),
        ("tool_rule", False, None),
        ("max_tokens_exceeded", True, None),
        ("max_tokens_exceeded", False, "bad_reply"),
        ("no_tool_call", True, None),
        ("no_tool_call", False, "bad_reply"),
        ("invalid_tool_call", False, "bad_reply"),
        ("max_steps", True, "max_steps"),
        ("max_steps", False, "max_steps"),
        ("error", True, "server_error"),
        ("llm_api_error", False, "server_error"),
        ("invalid_llm_response", False, "bad_reply"),
        ("cancelled", False, "server_error"),
        ("insufficient_credits", False, "quota_exhausted"),
        ("context_window_overflow_in_system_prompt", False, "context_length"),
        ("a new one", True, None),
        (None, True, "stream_cut"),
    ],
)
def test_how_a_turn_ended_says_whether_it_was_one(stop_reason, answered, code):
    failed = stop_failure(stop_reason, answered=answered, place="agent-1")
    assert (failed and failed.code) == code
