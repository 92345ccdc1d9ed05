import pytest

from harness.targets.sample_copies import own_copy
from harness.types.samples import Sample


@pytest.mark.parametrize("field", ["metadata", "extra_vars", "agent_args", "rubric_vars"])
def test_what_is_done_to_a_copy_does_not_reach_the_sample(field):
    sample = Sample(id="s", input="Hi", **{field: {"want": "x", "deep": [{"a": [1]}]}})
    copied = own_copy(sample)
    assert copied == sample
    getattr(copied, field)["want"] = "changed"
    getattr(copied, field)["deep"][0]["a"].append(2)
    assert getattr(sample, field) == {"want": "x", "deep": [{"a": [1]}]}


def test_the_history_is_copied_too():
    sample = Sample(id="s", input="Hi", history=({"role": "user", "content": "x"},))
    copied = own_copy(sample)
    assert copied == sample
    copied.history[0]["content"] = "changed"
    assert sample.history[0]["content"] == "x"


def test_a_sample_without_anything_to_change_is_not_copied():
    sample = Sample(id="s", input="Hi")
    assert own_copy(sample) is sample


def test_deep_nesting_breaks_nothing():
    deep = []
    for _ in range(50_000):
        deep = [deep]
    copied = own_copy(Sample(id="s", input="Hi", metadata={"deep": deep}))
    depth, inner = 0, copied.metadata["deep"]
    while inner:
        depth, inner = depth + 1, inner[0]
    assert depth == 50_000
