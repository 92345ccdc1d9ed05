import pytest

from harness.targets.http_agent import HttpAgent
from harness.targets.http_options import HttpCall, HttpSessionOptions
from harness.types.code import SuitePath
from harness.types.errors import SuiteError
from harness.types.suites import Suite

URL = "http://127.0.0.1:9000/chat"
ASKS = {"q": "{{input}}"}
ALL = {"q": ["{{messages}}"]}


def agent(**options):
    return HttpAgent(**{"url": URL, "request": ASKS, **options})


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"request": {"q": "hello"}}, "target: {{input}} or {{messages}} has to stand in url"),
        ({"request": None}, "target: {{input}} or {{messages}} has to stand in url"),
        ({"request": {"q": "{{inptu}}"}}, "target.request: there is nothing to fill {{inptu}}"),
        ({"request": "{{input}}"}, "target.request: "),
        ({"url": "ftp://h/"}, "target.url: "),
        ({"url": "http://{{metadata.host}}/x"}, "target.url: no placeholder can stand for a host"),
        ({"url": "http://u:{{model}}@h/x"}, "target.url: no placeholder can stand for a host"),
        ({"url": "http://[::1/x"}, "target.url: this is no address"),
        ({"url": "http://h:99999/x"}, "target.url: this is no address"),
        ({"url": "http://[::1]:x/{{model}}"}, "target.url: this is no address"),
        ({"url": "http://exa mple/x"}, "target.url: this is no address"),
        ({"url": f"{URL}?q={{{{inptu}}}}"}, "target.url: there is nothing to fill"),
        ({"method": "post"}, "target.method: "),
        ({"headers": {"a b": "x"}}, 'target.headers: "a b" is no name of a header'),
        ({"headers": {"Content-Length": "3"}}, "target.headers: the header Content-Length"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "target.headers: the header x-a is given twice"),
        ({"headers": {"X": "{{nothing}}"}}, "target.headers: there is nothing to fill {{nothing}}"),
        ({"headers": {"AUTHORIZATION": "x"}, "url": "http://me:word@h/"},
         "target: the header Authorization and a user in an address say twice who asks"),
        ({"headers": {"Authorization": "x"}, "session": {"end": {"url": "//me@h/{{session_id}}"}}},
         "target: the header Authorization and a user in an address say twice who asks"),
        ({"response": {"text": "reply"}}, 'target.response.text: "reply" is no JSON path'),
        ({"response": {"usage": "$.["}}, 'target.response.usage: "$.[" is no JSON path'),
        ({"response": {"txt": "$.a"}}, 'target.response.txt: unknown key "txt"'),
        ({"response": {"format": "chat"}}, "target.response.format: "),
        ({"response": {"done": "end"}}, "target: response.done says what ends a stream"),
        ({"response": {"done": "$.["}, "stream": "sse"}, 'target.response.done: "$.[" is no JSON'),
        ({"response": {"done": ""}, "stream": "sse"}, "target.response.done: "),
        ({"session": {"id": "thread"}}, 'target.session.id: "thread" is no JSON path'),
        ({"session": {"start": {"url": "/{{x}}"}}}, "target.session.start.url: there is nothing"),
        ({"session": {"end": {"url": "//{{model}}/x"}}}, "target.session.end.url: no placeholder"),
        ({"session": {"start": {"url": "/", "request": {"a": "{{x}}"}}}},
         "target.session.start.request: there is nothing"),
    ],
)  # fmt: skip
def test_options_that_cannot_work_are_refused_at_their_place(options, fault):
    with pytest.raises(SuiteError) as raised:
        suite(**{"request": ASKS, **options})
    assert any(fault in str(found) for found in raised.value.faults), str(raised.value)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(SuiteError) as raised:
        suite(
            request={"q": "{{inptu}}"},
            headers={"Host": "x", "a b": "y"},
            response={"text": "reply", "messages": "all"},
        )
    problems = {fault.path: fault.problem for fault in raised.value.faults}
    assert sorted(problems) == [
        "target.headers",
        "target.request",
        "target.response.messages",
        "target.response.text",
    ]
    assert '; "a b" is no name of a header' in problems["target.headers"]


@pytest.mark.parametrize(
    ("options", "turns", "history", "resent"),
    [
        ({}, False, False, False),
        ({"request": ALL}, True, True, True),
        ({"request": {"q": "{{input}}", "s": "{{session_id}}"}}, True, False, False),
        ({"url": URL + "/{{session_id}}"}, True, False, False),
        ({"headers": {"X-Session": "{{session_id}}"}}, True, False, False),
        ({"session": HttpSessionOptions(cookies=True)}, True, False, False),
        ({"request": {**ALL, "s": "{{session_id}}"}}, True, True, False),
        ({"request": ALL, "session": HttpSessionOptions(start=HttpCall(url="/"))},
         True, True, False),
        ({"stateless": True}, False, False, True),
        ({"request": ALL, "stateless": False}, True, True, False),
    ],
)  # fmt: skip
def test_the_request_says_what_the_agent_knows_of_earlier_turns(options, turns, history, resent):
    made = agent(**options)
    assert (made.takes_turns, made.takes_history, made.may_resend) == (turns, history, resent)


@pytest.mark.parametrize(
    ("options", "models", "problems"),
    [
        ({}, ("a", "b"), ["request"]),
        ({}, ("a",), []),
        ({"request": {"q": "{{input}}", "m": "{{model}}"}}, ("a", "b"), []),
        ({"session": HttpSessionOptions(start=HttpCall(url="/{{model}}"))}, ("a", "b"), []),
    ],
)
def test_models_that_the_agent_is_not_told_are_a_fault(options, models, problems):
    assert [option for option, _ in agent(**options).lint_models(models)] == problems


def test_an_id_that_nothing_uses_is_a_fault():
    assert [o for o, _ in agent(session=HttpSessionOptions(id="$.id")).lint()] == ["session"]
    ended = HttpSessionOptions(id="$.id", end=HttpCall(url="/{{session_id}}"))
    assert list(agent(session=ended).lint()) == []


def test_a_file_without_certificates_is_a_fault(tmp_path):
    path = tmp_path / "ca.pem"
    path.write_text("no certificate", encoding="utf-8")
    ((option, problem),) = agent(ca_file=SuitePath(text="ca.pem", path=path)).lint()
    assert (option, problem.partition(":")[0]) == ("ca_file", "ca.pem holds no certificates")


def test_variables_of_headers_that_are_not_set_are_told(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "k")
    monkeypatch.delenv("OTHER_KEY", raising=False)
    made = agent(headers={"A": "Bearer ${AGENT_KEY}", "B": "${OTHER_KEY}", "C": "${OTHER_KEY:-}"})
    ((option, problem),) = made.lint_keys(())
    assert option == "headers"
    assert problem.startswith("B: the environment variable OTHER_KEY is not set")


def suite(**target):
    document = {"name": "t", "samples": [{"id": "1", "input": "a"}], "graders": {"g": GRADER}}
    return Suite.from_mapping({**document, "target": {"kind": "http", "url": URL, **target}})


GRADER = {"type": "exit-success"}


def test_a_new_key_is_no_change_of_the_target_but_a_new_address_is(monkeypatch):
    def fingerprint(key, url):
        monkeypatch.setenv("AGENT_KEY", key)
        monkeypatch.setenv("AGENT_URL", url)
        headers = {"Authorization": "Bearer ${AGENT_KEY}"}
        return suite(url="${AGENT_URL}", headers=headers, request=ASKS).target.fingerprint

    assert fingerprint("one", URL) == fingerprint("two", URL)
    assert fingerprint("one", URL) != fingerprint("one", URL + "/v2")


@pytest.mark.parametrize(
    ("sample", "request_body", "place"),
    [
        ({"input": ["a", "b"]}, ASKS, "samples[0].input: agents of the kind http answer one turn"),
        ({"input": "b", "history": [{"role": "user", "content": "a"}]}, ASKS,
         "samples[0].history: agents of the kind http begin with nothing said"),
        ({"input": ["a", "b"]}, ALL, None),
    ],
)  # fmt: skip
def test_samples_that_the_agent_would_forget_are_refused(sample, request_body, place):
    document = {
        "name": "t",
        "samples": [{"id": "1", **sample}],
        "target": {"kind": "http", "url": URL, "request": request_body},
        "graders": {"g": GRADER},
    }
    if place is None:
        assert Suite.from_mapping(document).samples
        return
    with pytest.raises(SuiteError) as raised:
        Suite.from_mapping(document)
    assert place in str(raised.value)
