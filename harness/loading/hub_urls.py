"""URLs of datasets on the Hugging Face hub, as letta-evals (0.24 to 0.26) takes them.

    https://huggingface.co/datasets/ORGANISATION/NAME
    https://huggingface.co/datasets/ORGANISATION/NAME/resolve/REVISION/PATH

`blob` stands for `resolve`, where the address of a page was copied.
"""

import re
from urllib.parse import unquote, urlsplit

from harness.documents.findings import BadReference
from harness.types.code import HubFile

HOST = "huggingface.co"
SUFFIXES = (".jsonl", ".csv")
_FORM = f"https://{HOST}/datasets/ORGANISATION/NAME, or .../resolve/REVISION/FILE after it"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_VIEWS = ("resolve", "blob")


def hub_file(text: str) -> HubFile | None:
    """Return what a URL names on the hub; None for what is no URL, such as a path.

    Raises:
        BadReference: a URL of another host, or one that names no dataset.
    """
    if not _SCHEME.match(text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise BadReference("this is no URL", _FORM) from error
    # The exact host: neither a name that ends like it, nor one with a user or a port.
    if parts.netloc.lower() != HOST:
        raise BadReference(f"datasets are fetched from {HOST} alone", f"a file, or {_FORM}")
    names = [unquote(part) for part in parts.path.split("/")[1:]]
    names = names[:-1] if names[-1:] == [""] else names
    if names[:1] != ["datasets"] or not all(map(_NAME.fullmatch, names[1:3])):
        raise BadReference("this URL names no dataset", _FORM)
    return _file(text, names[1:])


def _file(text: str, names: list[str]) -> HubFile:
    repository, view, rest = "/".join(names[:2]), names[2:3], names[3:]
    if len(names) == 2:  # noqa: PLR2004  (organisation and name)
        return HubFile(text=text, repository=repository)
    if len(names) < 2 or view[0] not in _VIEWS or len(rest) < 2 or not _are_plain(rest):  # noqa: PLR2004
        raise BadReference("this URL names no file of a dataset", _FORM)
    path = "/".join(rest[1:])
    if not path.lower().endswith(SUFFIXES):
        raise BadReference(f'"{path}" is no dataset by its name', "a .jsonl or .csv file")
    return HubFile(text=text, repository=repository, revision=rest[0], path=path)


def _are_plain(names: list[str]) -> bool:
    """Say whether parts of a URL are names: no way out of a folder, nothing that does not print."""
    return all(
        name not in {"", ".", ".."} and name.isprintable() and "\\" not in name for name in names
    ) and not any("/" in name for name in names[1:])
