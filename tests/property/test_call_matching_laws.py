"""Laws of matching calls with reference calls: short cuts find what comparing all pairs finds."""

from hypothesis import given
from hypothesis import strategies as st

from graders.call_matching import ReferenceCall, agree, first_missing, first_surplus
from graders.json_comparison import Rule, first_unmatched
from harness.types.events import ToolCall

tools = st.sampled_from(["a", "b"])
small = st.sampled_from([1, 1.0, 2, True, "x", "y", [1, 2], [2, 1], [], {"k": 1}, {}])
arguments = small | st.dictionaries(st.sampled_from("pq"), small, max_size=2)
calls = st.lists(
    st.builds(ToolCall, call_id=st.none(), name=tools, arguments=arguments), max_size=6
)
references = st.lists(
    st.builds(ReferenceCall, name=tools, arguments=st.none() | arguments), max_size=6
)
rules = st.none() | st.builds(
    Rule,
    mode=st.sampled_from(["equals", "contains", "matches"]),
    tolerance=st.sampled_from([0.0, 1.0]),
    ignore_order=st.booleans(),
)


@given(rules, references, calls)
def test_the_first_reference_without_a_call_is_found(rule, listed, made):
    plain = first_unmatched(
        len(listed), lambda i: [j for j, one in enumerate(made) if agree(rule, listed[i], one)]
    )
    assert first_missing(rule, listed, made) == plain


@given(rules, references, calls)
def test_the_first_call_without_a_reference_is_found(rule, listed, made):
    plain = first_unmatched(
        len(made), lambda i: [j for j, one in enumerate(listed) if agree(rule, one, made[i])]
    )
    assert first_surplus(rule, listed, made) == plain
