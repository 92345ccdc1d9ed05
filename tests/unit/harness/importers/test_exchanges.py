import pytest

from harness.importers.exchange_records import read_exchange
from harness.importers.exchanges import Dialect, join_exchanges

ASKED = {"role": "user", "content": "Hi"}
SAID = {"role": "assistant", "content": "Hello."}
MORE = {"role": "user", "content": "Bye"}


def reply(response):
    return [response["reply"]] if isinstance(response, dict) and "reply" in response else []


DIALECT = Dialect(key="messages", reply=reply, is_reply=lambda m: m.get("role") == "assistant")


def exchange(*messages, response=None, **beside):
    answer = {"reply": SAID} if response is None else response
    return read_exchange({"request": {"messages": list(messages)}, "response": answer, **beside})


def talks(*exchanges):
    return list(join_exchanges(((f"f:{n}", e) for n, e in enumerate(exchanges, 1)), DIALECT))


@pytest.mark.parametrize(
    "record",
    [
        {"status": {"code": 429}, "request": {"a": 1}, "response": {"b": 2}},
        {"status": 429, "request": {"a": 1}, "response": {"b": 2}},
        {"request": {"body": {"a": 1}}, "response": {"status_code": 429, "body": {"b": 2}}},
        {"request": {"body": '{"a": 1}'}, "response": {"status": 429, "body": '{"b": 2}'}},
        {
            "request": {"body": {"string": '{"a":1}'}},
            "response": {"status": {"code": 429}, "body": {"string": '{"b":2}'}},
        },
    ],
)
def test_bodies_and_status_stand_in_one_of_several_places(record):
    found = read_exchange(record)
    assert (found.request, found.response, found.status) == ({"a": 1}, {"b": 2}, 429)
    assert (found.failure.code, found.refused) == ("rate_limited", True)


@pytest.mark.parametrize(
    "record", [None, 3, [], {}, {"request": "GET /"}, {"request": {"body": 3}}]
)
def test_what_holds_no_request_is_no_exchange(record):
    assert read_exchange(record) is None


def test_a_longer_request_goes_on_and_moved_marks_do_not_matter():
    marked = {**ASKED, "cache_control": {"type": "ephemeral"}}
    (talk,) = talks(exchange(marked), exchange(ASKED, SAID, MORE))
    assert talk.history == (marked, SAID, MORE)
    assert (talk.place, talk.ending(), talk.unread) == ("f:1", (), {})


def test_the_same_question_asked_again_is_another_conversation_unless_it_had_failed():
    assert len(talks(exchange(ASKED), exchange(ASKED))) == 2
    (talk,) = talks(exchange(ASKED, status=503, response={"error": "down"}), exchange(ASKED))
    assert [getattr(part, "kind", part) for part in talk.history] == [ASKED, "overloaded"]
    assert talk.ending() == ()


def test_requests_that_begin_otherwise_are_conversations_of_their_own():
    assert [talk.place for talk in talks(exchange(ASKED), exchange(MORE, SAID))] == ["f:1", "f:2"]


def test_an_exchange_without_any_message_is_refused_with_its_place():
    with pytest.raises(ValueError, match="f:1: the request holds no list under `messages`"):
        talks(read_exchange({"request": {"prompt": "x"}, "response": {}}))


def test_a_streamed_response_is_put_together_and_one_without_end_is_cut():
    chunk = 'data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hi"}%s}]}\n\n'
    whole = exchange(ASKED, response=chunk % ',"finish_reason":"stop"')
    assert whole.response["choices"][0]["message"]["content"] == "Hi"
    assert whole.failure is None
    cut = exchange(ASKED, response=chunk % "")
    assert (cut.failure.code, cut.refused) == ("stream_cut", False)
