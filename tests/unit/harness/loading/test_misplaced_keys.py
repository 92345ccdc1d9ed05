import pytest

from harness.documents.findings import Findings
from harness.documents.nodes import Location, from_python
from harness.documents.shapes import free_value
from harness.loading.misplaced_keys import put_right


@pytest.mark.parametrize(
    ("document", "right", "faults"),
    [
        ({"a": 1, "in": {"x": 2}}, {"a": 1, "in": {"x": 2}}, []),
        ({"x": 1}, {"in": {"x": 1}}, ['s: x: unknown key "x"; it belongs under `in`']),
        ({"x": 1, "in": {"y": 2}}, {"in": {"x": 1, "y": 2}}, ["s: x: unknown key"]),
        ({"x": 1, "in": {"x": 2}}, {"in": {"x": 2}}, ["s: x: unknown key"]),
        (
            {"in": {"a": 1, "y": 2}},
            {"a": 1, "in": {"y": 2}},
            ['s: in.a: unknown key "a"; it belongs one level up, beside `in`'],
        ),
        ({"a": 0, "in": {"a": 1}}, {"a": 0, "in": {}}, ["s: in.a: unknown key"]),
        ({"x": 1, "in": {"a": 2}}, {"a": 2, "in": {"x": 1}}, ["s: x: unk", "s: in.a: unk"]),
        ({"both": 1, "in": {"both": 2}}, {"both": 1, "in": {"both": 2}}, []),
        ({"z": 1, "in": {"z": 2}}, {"z": 1, "in": {"z": 2}}, []),
        ({"x": 1, "in": ["x"]}, {"x": 1, "in": ["x"]}, []),
        (["x"], ["x"], []),
    ],
)
def test_a_key_one_level_too_high_or_too_deep_goes_where_it_belongs(document, right, faults):
    findings = Findings("s")
    location = Location(from_python(document))
    found = put_right(location, findings, "in", own={"a", "in", "both"}, inner={"x", "y", "both"})
    assert free_value(found.node) == right
    assert len(findings.faults) == len(faults)
    for fault, expected in zip(findings.faults, faults, strict=True):
        assert str(fault).startswith(expected)
