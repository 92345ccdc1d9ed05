from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator

from harness.documents.binding import Binder
from harness.documents.findings import BadReference, Findings, in_order
from harness.documents.nodes import Location
from harness.documents.yaml_files import read_yaml
from harness.types.code import SuitePath
from harness.types.errors import Fault


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: int = 1


@dataclass(frozen=True, kw_only=True)
class Record:
    name: str
    share: float = field(default=0.5, metadata={"ge": 0, "le": 1})
    inner: Inner = field(default_factory=Inner)
    many: tuple[Inner, ...] = ()
    free: Mapping[str, Any] = field(default_factory=dict)
    words: Annotated[
        tuple[str, ...],
        BeforeValidator(lambda value: tuple(value.split()), json_schema_input_type=str),
    ] = ()
    path: SuitePath | None = None


def bind(text, **options):
    findings = Findings("f")
    node = read_yaml(text.encode(), findings)
    bound = Binder(findings).bind(Record, Location(node), **options)
    return bound, [str(fault) for fault in findings.faults]


def test_options_are_read_by_their_types():
    text = "{name: 010, inner: {size: 2}, many: [{size: 3}], words: 1.10 b, free: {v: 1.10}}"
    bound, faults = bind(text)
    assert faults == []
    assert (bound.name, bound.inner, bound.many) == ("010", Inner(size=2), (Inner(size=3),))
    assert (bound.words, bound.free) == (("1.10", "b"), {"v": "1.10"})
    assert bind("{name: x, free: {v: 1.10}}", free="json")[0].free == {"v": 1.1}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("{}", ['f:1:1: "name" is missing; it has no default']),
        ("~", ["f:1:1: found nothing; a mapping of options"]),
        ("[a]", ["f:1:1: found a list; a mapping of options"]),
        ("{nmae: x}", ['f:1:2: nmae: unknown key "nmae"; did you mean "name"?']),
        ("{name: x, also: 1}", ['f:1:11: also: unknown key "also"; allowed: free, inner, many']),
        ("{name: x, share: 2}", ["f:1:18: share: found 2; at most 1"]),
        ("{name: [x]}", ["f:1:8: name: found a list; a text"]),
        ("{name: x, inner: {size: a}}", ["f:1:25: inner.size: found the text 'a'; a whole"]),
        ("{name: x, many: [{}, {siz: 1}]}", ['f:1:23: many[1].siz: unknown key "siz"; did you']),
        ("{name: x, path: p}", ["f:1:17: path: this document cannot name files"]),
        ("{name: ~, share: -1}", ["f:1:8: name: found nothing", "f:1:18: share: found -1; at"]),
    ],
)
def test_every_mistake_is_one_fault_at_its_place(text, faults):
    bound, found = bind(text)
    assert bound is None
    assert len(found) == len(faults), found
    for fault, expected in zip(sorted(found), sorted(faults), strict=True):
        assert fault.startswith(expected)


def test_keys_that_are_read_elsewhere_are_known():
    assert bind("{name: x, also: 1}", also={"also"})[0].name == "x"
    assert bind("{name: x, aslo: 1}", also={"also"})[1] == [
        'f:1:11: aslo: unknown key "aslo"; did you mean "also"?'
    ]


def test_a_reference_that_was_reported_is_no_second_fault():
    findings = Findings("f")
    location = Location(read_yaml(b"x", findings))
    findings.reference(location, BadReference("gone", "nothing", reported=True))
    assert findings.faults == []
    findings.reference(location, BadReference("gone", "nothing"))
    assert [str(fault) for fault in findings.faults] == ["f:1:1: gone; nothing"]


def test_faults_are_in_the_order_of_their_text_and_each_is_shown_once():
    lines = [("b", 1), ("a", 0), ("a", 3), ("f", 2), ("f", 0), ("f", 1), ("a", 3)]
    faults = [Fault(file=file, line=line, problem="x") for file, line in lines]
    assert [(fault.file, fault.line) for fault in in_order("f", faults)] == [
        ("f", 1),
        ("f", 2),
        ("f", 0),
        ("a", 3),
        ("a", 0),
        ("b", 1),
    ]
