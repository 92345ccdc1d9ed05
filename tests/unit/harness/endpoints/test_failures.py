import http.client
import json
import socket
import ssl
import urllib.error
from email.message import Message

import aiohttp
import openai
import pytest

from harness.endpoints.failures import classify
from harness.types.errors import TargetError

HTTPX = type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0]
httpx = pytest.importorskip(HTTPX)
REQUEST = httpx.Request("POST", "https://u:p4ss@host.invalid/v1?api_key=QQ-1")


def caused(error, cause):
    error.__cause__ = cause
    return error


def status_error(status, body=None, headers=None):
    response = httpx.Response(status, json=body or {}, headers=headers, request=REQUEST)
    return openai.APIStatusError("No.", response=response, body=body)


class CodedError(Exception):
    def __init__(self, **fields):
        super().__init__("coded")
        vars(self).update(fields)


def textless(error):
    class TextlessError(type(error)):
        def __str__(self):
            raise AttributeError

    return TextlessError("No.", response=error.response, body=None)


def of_library(module, *names, **fields):
    """Make an error as a library defines it that is not installed; `names` lead down to it."""
    kind = Exception
    for name in names:
        kind = type(name, (kind,), {"__module__": module})
    error = kind("message")
    vars(error).update(fields)
    return error


REFUSED = ConnectionRefusedError(111, "Connection refused")
THROTTLED = {
    "Error": {"Code": "ThrottlingException", "Message": "Slow down."},
    "ResponseMetadata": {"HTTPStatusCode": 429, "HTTPHeaders": {"retry-after": "3"}},
}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (status_error(401), "unauthorized"),
        (status_error(429, {"code": "insufficient_quota"}), "quota_exhausted"),
        (status_error(503), "overloaded"),
        (caused(openai.APIConnectionError(request=REQUEST), REFUSED), "connection_refused"),
        (
            caused(openai.APIConnectionError(request=REQUEST),
                   caused(OSError("all failed"), ExceptionGroup("both", [REFUSED, REFUSED]))),
            "connection_refused",
        ),
        (openai.APIConnectionError(request=REQUEST), "connection_lost"),
        (openai.APITimeoutError(request=REQUEST), "connection_lost"),
        (
            openai.APIResponseValidationError(httpx.Response(200, request=REQUEST), None),
            "bad_reply",
        ),
        (
            caused(openai.APIConnectionError(request=REQUEST), httpx.UnsupportedProtocol("ftp")),
            "bad_request",
        ),
        (httpx.ReadTimeout("slow", request=REQUEST), "connection_lost"),
        (httpx.RemoteProtocolError("cut", request=REQUEST), "connection_lost"),
        (httpx.InvalidURL("no"), "bad_request"),
        (httpx.DecodingError("gzip", request=REQUEST), "bad_reply"),
        (httpx.HTTPStatusError("No.", request=REQUEST, response=httpx.Response(500)),
         "server_error"),
        (aiohttp.ServerDisconnectedError(), "connection_lost"),
        (aiohttp.ClientConnectionError(), "connection_lost"),
        (aiohttp.ClientPayloadError(), "connection_lost"),
        (aiohttp.ClientResponseError(None, (), status=429, headers={}), "rate_limited"),
        (textless(status_error(500)), "server_error"),
        (urllib.error.HTTPError("http://x", 404, "No.", Message(), None), "not_found"),
        (urllib.error.URLError(REFUSED), "connection_refused"),
        (urllib.error.URLError(socket.gaierror(-2, "unknown")), "unknown_host"),
        (REFUSED, "connection_refused"),
        (ConnectionResetError(), "connection_lost"),
        (BrokenPipeError(), "connection_lost"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "unknown_host"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "connection_lost"),
        (ssl.SSLCertVerificationError("certificate verify failed"), "untrusted_certificate"),
        (ssl.SSLError("handshake failure"), "connection_lost"),
        (TimeoutError(110, "Connection timed out"), "connection_lost"),
        (openai.APIError("inside a stream", REQUEST, body={"message": "x"}), "server_error"),
        (of_library("letta_client.core.api_error", "ApiError", status_code=503), "overloaded"),
        (of_library("requests.exceptions", "Timeout", "ReadTimeout"), "connection_lost"),
        (of_library("requests.exceptions", "MissingSchema"), "bad_request"),
        (caused(of_library("urllib3.exceptions", "HTTPError", "MaxRetryError"), REFUSED),
         "connection_refused"),
        (of_library("botocore.exceptions", "ClientError", response=THROTTLED), "rate_limited"),
        (http.client.IncompleteRead(b"x"), "connection_lost"),
        (TargetError("x", code="max_steps"), "max_steps"),
        (ExceptionGroup("tasks", [ExceptionGroup("inner", [REFUSED])]), "connection_refused"),
    ],
)  # fmt: skip
def test_failures_of_endpoints_have_a_code(error, code):
    found = classify(error)
    assert isinstance(found, TargetError)
    assert found.code == code
    assert "\n" not in str(found)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x"),
        OSError("disk full"),
        FileNotFoundError("x"),
        TimeoutError(),
        KeyError("status_code"),
        json.JSONDecodeError("x", "", 0),
        CodedError(status_code=503),
        CodedError(status=429),
        CodedError(response=httpx.Response(503)),
        CodedError(code=503),
        of_library("agent", "ConnectionError"),
        of_library("agent.openai", "APIConnectionError", status_code=503),
        of_library("botocore.exceptions", "NoCredentialsError"),
        of_library("requests.exceptions", "StreamConsumedError"),
        of_library("letta_client.core.api_error", "ApiError", status_code=200),
        of_library("letta_client.core.api_error", "ApiError", status_code="503"),
        of_library("letta_client.core.api_error", "ApiError", status_code=True),
        of_library("letta_client.core.api_error", "ApiError", status_code=7),
        openai.OpenAIError("The api_key client option must be set"),
        SystemExit(1),
        ExceptionGroup("tasks", [REFUSED, ValueError("x")]),
    ],
)
def test_what_is_no_failure_of_an_endpoint_is_left_alone(error):
    assert classify(error) is None


def test_an_error_that_only_has_an_outage_for_a_cause_is_the_code_s_own():
    assert classify(caused(ValueError("x"), REFUSED)) is None


def test_a_message_names_method_url_status_and_cause_and_holds_no_secret():
    body = {"message": "key canary-9f3a is wrong\nby far", "code": "c"}
    text = str(classify(status_error(400, body), secrets=["canary-9f3a"]))
    assert text == (
        "POST https://[redacted]@host.invalid/v1: 400: [c] key [redacted] is wrong\\nby far"
    )
    reset = caused(openai.APIConnectionError(request=REQUEST), ConnectionResetError(104, "reset"))
    assert "ConnectionResetError" in str(classify(reset))


def test_a_message_is_short_however_long_the_body():
    error = status_error(500, {"message": "api_key=" * 100_000})
    assert len(str(classify(error))) < 1000


def test_the_time_to_wait_comes_along():
    found = classify(status_error(429, headers={"retry-after": "7"}))
    assert found.retry_after == 7.0
    throttled = of_library("botocore.exceptions", "ClientError", response=THROTTLED)
    assert classify(throttled).retry_after == 3.0
