"""Datasets of the Hugging Face hub: fetched once a commit, and kept in the user's cache.

`HF_ENDPOINT` names another hub, `HF_TOKEN` or `HUGGING_FACE_HUB_TOKEN` the reader. What is fetched
is data like any other dataset: its names are checked before they become paths, and its size is
bounded.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from harness.endpoints.compressed_replies import ACCEPTED, Inflater
from harness.loading.hub_urls import HOST, SUFFIXES
from harness.system.hashing import sha256_of
from harness.system.json_values import load_json
from harness.system.redaction import redacted_line
from harness.system.user_cache import cache_folder
from harness.types.code import HubFile
from harness.types.errors import DatasetError, Fault

MOST_BYTES = 2_000_000_000
_MOST_LISTED = 50_000_000
_SECONDS = httpx.Timeout(60.0, connect=15.0)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST_REDIRECTS = 5
_SHOWN = 200
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_REFUSALS = {
    401: "it is not there, or your token may not read it; set HF_TOKEN",
    403: "your token may not read it; accept its terms on the hub, or set HF_TOKEN",
    404: "there is no such dataset, revision or file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedFile:
    """A file of the hub on this machine; `commit` is the one it was taken from."""

    path: Path
    name: str
    commit: str
    is_pinned: bool


def fetch(file: HubFile) -> FetchedFile:
    """Return a file of the hub, from the cache where its commit is there already.

    Raises:
        DatasetError: it cannot be found or fetched; nothing half is left behind.
    """
    hub = _Hub(file)
    with hub.client() as client:
        return hub.fetch(client)


class _Hub:
    """One dataset of the hub."""

    def __init__(self, file: HubFile) -> None:
        self._file = file
        self._endpoint = (os.environ.get("HF_ENDPOINT") or f"https://{HOST}").rstrip("/")

    def client(self) -> httpx.Client:
        token = self._token()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(
            headers={**headers, **ACCEPTED, "User-Agent": "regrade"},
            timeout=_SECONDS,
        )

    def _token(self) -> str:
        name = next(filter(os.environ.get, _TOKENS), "")
        token = os.environ.get(name, "").strip()
        if token and not (token.isascii() and token.isprintable()):
            problem = (
                f"the environment variable {name} holds characters that are invalid in a token"
            )
            raise self._fault(problem, f"set {name} again")
        return token

    def fetch(self, client: httpx.Client) -> FetchedFile:
        asked = self._file.revision or "main"
        pinned = _COMMIT.fullmatch(asked) is not None
        if pinned and self._file.path is not None:
            commit, name = asked, self._file.path
        else:
            commit, names = self._look_up(client, asked)
            name = self._file.path or self._only(names)
        path = self._cached(commit, name)
        if not path.is_file():
            self._download(client, commit, name, path)
        return FetchedFile(path=path, name=name, commit=commit, is_pinned=pinned)

    def _look_up(self, client: httpx.Client, revision: str) -> tuple[str, list[str]]:
        """Return the commit that a revision stands for, and the files of the dataset."""
        url = f"{self._endpoint}/api/datasets/{self._file.repository}/revision/{_quoted(revision)}"
        with self._answer(client, url) as answer:
            body = b"".join(self._bounded(answer, _MOST_LISTED))
        try:
            found = load_json(body.decode())
        except ValueError as error:
            raise self._fault("the hub's answer is no JSON") from error
        commit = found.get("sha") if isinstance(found, Mapping) else None
        if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
            raise self._fault("the hub's answer names no commit")
        return commit, list(_names(found.get("siblings")))

    def _only(self, names: list[str]) -> str:
        usable = [name for name in names if name.lower().endswith(SUFFIXES)]
        if len(usable) == 1:
            return usable[0]
        found = f"holds {len(usable)} .jsonl and .csv files"
        shown = f": {', '.join(sorted(usable)[:10])}" if usable else ""
        raise self._fault(
            f"the dataset {found}{shown}", "name one: .../resolve/main/FILE after the name"
        )

    def _cached(self, commit: str, name: str) -> Path:
        # The name of a file on the hub is not one on this machine; its ending tells the format.
        key = sha256_of(self._endpoint, self._file.repository, commit, name)
        suffix = next(suffix for suffix in SUFFIXES if name.lower().endswith(suffix))
        return cache_folder("datasets") / f"{key.removeprefix('sha256:')}{suffix}"

    def _download(self, client: httpx.Client, commit: str, name: str, path: Path) -> None:
        where = "/".join(map(_quoted, name.split("/")))
        url = f"{self._endpoint}/datasets/{self._file.repository}/resolve/{commit}/{where}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._answer(client, url) as answer:
                self._write(answer, path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise self._fault(f"cannot be kept in {path.parent}: {reason}") from error

    def _write(self, answer: httpx.Response, path: Path) -> None:
        """Write a file whole: a reader sees all of it or nothing."""
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                for part in self._bounded(answer, MOST_BYTES):
                    file.write(part)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)

    @contextmanager
    def _answer(self, client: httpx.Client, url: str) -> Iterator[httpx.Response]:
        try:
            with closing(self._followed(client, url)) as answer:
                if not answer.is_success:
                    status = answer.status_code
                    said = _REFUSALS.get(status, "the hub could not be read")
                    raise self._fault(f"cannot be fetched: the hub answers {status}: {said}")
                yield answer
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = redacted_line(str(error) or type(error).__name__, _SHOWN)
            problem = f"cannot be fetched from {self._endpoint}: {reason}"
            raise self._fault(redacted_line(problem, 2 * _SHOWN)) from error

    def _followed(self, client: httpx.Client, url: str) -> httpx.Response:
        """Return the answer where redirects lead: the bodies of these are not read."""
        request = client.build_request("GET", url)
        for _ in range(_MOST_REDIRECTS):
            answer = client.send(request, stream=True)
            if answer.next_request is None:
                return answer
            answer.close()
            request = answer.next_request
        raise self._fault(f"cannot be fetched from {self._endpoint}: it redirects without end")

    def _bounded(self, answer: httpx.Response, most: int) -> Iterator[bytes]:
        size = 0
        for part in self._inflated(answer):
            size += len(part)
            if size > most:
                raise self._fault(f"cannot be fetched: it is larger than {most:,} bytes")
            yield part

    def _inflated(self, answer: httpx.Response) -> Iterator[bytes]:
        try:
            inflater = Inflater(answer.headers)
            for data in answer.iter_raw():
                yield from inflater.feed(data)
            inflater.end()
        except (ValueError, ConnectionError) as error:
            raise self._fault(f"cannot be fetched from {self._endpoint}: {error}") from error

    def _fault(self, problem: str, allowed: str = "") -> DatasetError:
        return DatasetError([Fault(file=self._file.text, problem=problem, allowed=allowed)])


def _names(siblings: Any) -> Iterator[str]:
    for sibling in siblings if isinstance(siblings, list) else ():
        name = sibling.get("rfilename") if isinstance(sibling, Mapping) else None
        if isinstance(name, str) and name.isprintable():
            yield name


def _quoted(text: str) -> str:
    return quote(text, safe="")
