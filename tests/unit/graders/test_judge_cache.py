from concurrent.futures import ThreadPoolExecutor

import pytest

from graders.judge_cache import CachedReply, ReplyCache
from harness.system.hashing import sha256_of

KEY = sha256_of("a question")


def test_what_is_written_is_read(tmp_path):
    cache = ReplyCache(tmp_path / "new" / "folder")
    reply = CachedReply(text='{"score": 1} ü \x00', served="m-1")
    assert cache.read(KEY) is None
    cache.write(KEY, reply)
    assert cache.read(KEY) == reply
    assert cache.read(sha256_of("another")) is None


def test_lone_surrogates_are_replaced(tmp_path):
    cache = ReplyCache(tmp_path)
    cache.write(KEY, CachedReply(text="a\ud800b"))
    assert cache.read(KEY).text == "a\ufffdb"


@pytest.mark.parametrize("text", ["", "{", '{"v":1}', '{"v":2,"text":"later"}', "[]", "\udcff"])
def test_an_entry_that_cannot_be_read_was_never_asked(tmp_path, text):
    cache = ReplyCache(tmp_path)
    cache.write(KEY, CachedReply(text="x"))
    (entry,) = tmp_path.rglob("*.json")
    entry.write_bytes(text.encode(errors="surrogateescape"))
    assert cache.read(KEY) is None


def test_writers_beside_each_other_leave_whole_entries(tmp_path):
    cache = ReplyCache(tmp_path)
    replies = [CachedReply(text=str(number) * 10_000) for number in range(8)]

    def write_and_read(reply):
        cache.write(sha256_of(reply.text), reply)
        return cache.read(sha256_of(reply.text))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(write_and_read, replies)) == replies
    assert [path for path in tmp_path.rglob("*") if path.suffix not in {"", ".json"}] == []
