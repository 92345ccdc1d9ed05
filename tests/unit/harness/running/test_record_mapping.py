"""Fields of records by what they name."""

import pytest

from harness.running.record_mapping import FieldMap, field_at, map_fields, read_field_map
from harness.types.errors import InputError
from harness.types.imports import Imported
from harness.types.trajectories import Trajectory


def record(**fields):
    return Imported(place="r.jsonl:1", trajectory=Trajectory(), sample_id="own", fields=fields)


def test_a_map_names_each_word_once_and_outcomes_as_often_as_wanted():
    texts = ["sample=instance_id, model=info.model", "outcome=resolved,outcome=reward"]
    wanted = FieldMap(sample="instance_id", model="info.model", outcomes=("resolved", "reward"))
    assert read_field_map(texts) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sampel=id", '--map: nothing is called "sampel"; did you mean "sample"?'),
        ("id", '--map: found "id"; sample=FIELD,model=FIELD,outcome=FIELD'),
        ("sample=", '--map: found "sample="; sample=FIELD,model=FIELD,outcome=FIELD'),
        ("", '--map: found ""; sample=FIELD,model=FIELD,outcome=FIELD'),
        ("model=a,model=b", '--map: "model" is named twice; each once, `outcome` aside'),
    ],
)
def test_a_map_that_cannot_be_followed_is_one_line(text, said):
    with pytest.raises(InputError) as caught:
        read_field_map([text])
    assert list(map(str, caught.value.faults)) == [said]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b": [{"c": 7}]}),
        ("a.b.0.c", 7),
        ("x.y", "its own name"),
    ],
)
def test_dots_lead_into_objects_and_lists(path, value):
    assert field_at({"a": {"b": [{"c": 7}]}, "x.y": "its own name", "x": {"y": 1}}, path) == value


@pytest.mark.parametrize(
    "path", ["b", "a.c", "a.b.1", "a.b.-1", "a.b.0.c.d", "a..b", "a.b.99999999"]
)
def test_what_is_not_there_is_missing_and_no_error(path):
    _, (fault,) = map_fields(record(a={"b": [{"c": 7}]}), FieldMap(sample=path))
    assert f'it has no field "{path}"' in str(fault)


def test_fields_take_the_place_of_what_the_format_tells():
    fields = FieldMap(sample="n", model="m", epoch="e", ground_truth="g", outcomes=("o.p", "q"))
    mapped, faults = map_fields(record(n=7, m="x", e="2", g=["b"], o={"p": True}), fields)
    assert not faults
    found = (mapped.sample_id, mapped.model, mapped.epoch, mapped.ground_truth, mapped.outcomes)
    assert found == ("7", "x", 2, '["b"]', {"o.p": True})


@pytest.mark.parametrize(
    ("fields", "value", "said"),
    [
        (FieldMap(sample="f"), True, '--map sample: "f" is true; a text or a whole number'),
        (FieldMap(model="f"), "", '--map model: "f" is ""; a text or a whole number'),
        (FieldMap(epoch="f"), -1, '--map epoch: "f" is -1; a whole number from 0 to 999,999'),
        (FieldMap(epoch="f"), "9" * 5_000, "a whole number from 0 to 999,999"),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be_used_is_a_fault_with_its_place(fields, value, said):
    _, (fault,) = map_fields(record(f=value), fields)
    assert str(fault).startswith("r.jsonl:1: ")
    assert str(fault).endswith(said)


def test_a_misspelt_field_is_told_the_close_one():
    _, (fault,) = map_fields(record(instance_id="a"), FieldMap(sample="instance-ID"))
    assert str(fault) == (
        'r.jsonl:1: --map sample: it has no field "instance-ID"; did you mean "instance_id"?'
    )
