"""Laws of eval specs of Vally."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from harness.loading.suite_files import build_suite
from harness.types.errors import SuiteError

SPEC = {
    "name": "trains",
    "defaults": {"runs": 2, "timeout": "5m", "executor": {"name": "mock"}, "model": "m"},
    "scoring": {"threshold": 0.5, "weights": {"completed": 2}},
    "environment": {"env": {"A": "b"}, "files": []},
    "tags": {"area": "trains"},
    "stimuli": [
        {"name": "a", "prompt": "q", "graders": [{"type": "completed"}], "tags": {"x": ["y"]}},
        {
            "name": "b",
            "turns": ["q", {"prompt": "r"}],
            "constraints": {"max_turns": 2},
            "graders": [{"type": "output-contains", "turn": 0, "config": {"value": "x"}}],
        },
    ],
}
words = st.sampled_from(["name", "stimuli", "", "5m", "mock", "completed", "type", "prompt"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-1e9, 1e9) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)


@st.composite
def broken_specs(draw):
    """Draw a spec in which anything stands in the place of some values."""
    spec = copy.deepcopy(SPEC)
    for _ in range(draw(st.integers(0, 3))):
        holder = spec
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(holder[key], dict | list) and draw(st.booleans()):
                holder = holder[key]
                continue
            holder[key] = draw(anything)
            break
    return spec


@given(broken_specs())
def test_any_spec_is_a_suite_or_has_faults_with_places(spec):
    suite, faults = None, ()
    try:
        suite = build_suite(spec, ".")
    except SuiteError as error:
        faults = error.faults
    if suite is None:
        assert faults
        assert all(fault.problem for fault in faults)
    elif "stimuli" in spec:
        assert all(sample.graders for sample in suite.samples)
