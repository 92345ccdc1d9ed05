"""Records of every kind that can occur, hostile ones included; new types join at the end."""

from hypothesis import strategies as st

from graders.catalogue import EXTRACTORS, GRADERS
from harness.types.events import (
    AssistantMessage,
    ErrorEvent,
    Reasoning,
    SystemEvent,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.samples import Sample
from harness.types.suites import GraderSpec
from harness.types.trajectories import Trajectory, Turn

# Texts: short words that meet often, and anything at all, lone surrogates and NUL included.
words = st.sampled_from(["", "K41", "id=K41", "lookup", "İ", "ß", "\x00", "\ud800", "a\nb", " "])
texts = st.one_of(words, st.lists(words, max_size=4).map("".join), st.text(max_size=20))
# Patterns: fragments of regular expressions in any order, most of them none.
fragments = st.sampled_from(
    [*r"()[]{}|*+?.^$\-,:=!<>#&~ab1İ", "\x00", "(?", "(?P<", "(?i)", r"\1", r"\w", "{e<=1}", "(?R)"]
)
patterns = st.one_of(
    st.lists(fragments, max_size=8).map("".join), st.sampled_from([r"id=(\w+)", r"\w*", "x?"])
)
names = st.sampled_from(["lookup", "lookup.x", "notes", ""])
call_ids = st.sampled_from([None, "c1", "c2"])
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=5,
)
events = st.one_of(
    st.builds(UserMessage, text=texts),
    st.builds(AssistantMessage, text=texts),
    st.builds(Reasoning, text=texts),
    st.builds(
        ToolCall,
        call_id=call_ids,
        name=names,
        arguments=json_values,
        arguments_text=st.none() | texts,
    ),
    st.builds(ToolResult, call_id=call_ids, name=st.none() | names, output=texts, ok=st.booleans()),
    st.builds(SystemEvent, kind=words, text=texts, data=json_values),
    st.builds(ErrorEvent, kind=words, message=texts),
)
turns = st.builds(Turn, events=st.lists(events, max_size=6).map(tuple))
trajectories = st.builds(Trajectory, turns=st.lists(turns, max_size=3).map(tuple))

extractors = st.one_of(
    st.sampled_from(["last_assistant", "first_assistant"]).map(lambda name: EXTRACTORS[name]()),
    st.builds(EXTRACTORS["all_assistant"], separator=words),
    st.builds(EXTRACTORS["last_turn"], separator=words),
    st.builds(
        EXTRACTORS["pattern"],
        pattern=patterns,
        group=st.one_of(st.integers(-1, 3), st.sampled_from(["a", ""])),
        search_all=st.booleans(),
    ),
    st.builds(EXTRACTORS["tool_arguments"], tool_name=names),
    st.builds(EXTRACTORS["tool_output"], tool_name=names),
    st.builds(EXTRACTORS["after_marker"], marker=words, include_marker=st.booleans()),
)
graders = st.one_of(
    st.sampled_from(["exact_match", "contains", "regex_match", "ascii_printable_only"]).map(
        lambda name: GRADERS[name]()
    ),
    st.builds(
        GRADERS["assistant-contains-tool-output"],
        tools=st.lists(names, max_size=2).map(tuple),
        pattern=patterns,
        all_matches=st.booleans(),
        require=st.sampled_from(["any", "all"]),
    ),
)
grader_specs = st.builds(
    GraderSpec,
    name=st.uuids().map(str),
    kind=st.just("any"),
    grader=graders,
    extractor=extractors,
    turn=st.none() | st.integers(-3, 3),
    weight=st.floats(0, 10),
    threshold=st.floats(0, 1),
    role=st.sampled_from(["required", "scored", "observed"]),
    fingerprint=texts,
)
ground_truths = st.one_of(st.none(), texts, patterns)


@st.composite
def samples(draw):
    """Draw a sample: one prompt, or several with or without a ground truth each."""
    if draw(st.booleans()):
        return Sample(id=draw(texts), input=draw(texts), ground_truth=draw(ground_truths))
    prompts = draw(st.lists(texts, min_size=1, max_size=3))
    truths = st.one_of(texts, patterns)
    several = st.lists(truths, min_size=len(prompts), max_size=len(prompts)).map(tuple)
    truth = draw(several | ground_truths)
    return Sample(id=draw(texts), input=tuple(prompts), ground_truth=truth)


# Chat Completions messages: hostile ones, and such as endpoints and their users write.
short_texts = st.text(max_size=6)
message_keys = st.sampled_from([
    "role", "content", "tool_calls", "id", "type", "function", "name", "arguments", "text",
    "tool_call_id", "error", "isError", "structuredContent", "function_call", "custom", "input",
    "refusal", "reasoning", "audio", "choices", "delta", "index", "usage", "finish_reason",
    "message", "thinking", "output", "call_id", "x_groq",
])  # fmt: skip
message_words = st.sampled_from([
    "user", "assistant", "tool", "system", "function", "text", "c1", "c2", "", "error", "thinking",
    "function_call", "function_call_output", '{"a": 1, "a": 2}', "image_url", "\ud800",
])  # fmt: skip
foreign_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | message_words | short_texts,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(message_keys | short_texts, inner, max_size=5)
    ),
    max_leaves=25,
)
given_ids = st.sampled_from(["c1", "c2", "c3"])
tool_names = st.sampled_from(["find", "send"])
image_parts = st.fixed_dictionaries(
    {"type": st.just("image_url"), "image_url": st.just({"url": "x"})}
)


@st.composite
def chat_messages(draw):
    """Draw messages as endpoints and their users write them."""
    role = draw(st.sampled_from(["system", "user", "assistant", "tool"]))
    if role == "assistant":
        return draw(chat_replies())
    if role == "tool":
        failed = draw(st.sampled_from([{}, {"error": True}]))
        return {
            "role": role,
            "tool_call_id": draw(given_ids),
            "content": draw(short_texts),
            **failed,
        }
    text = {"type": "text", "text": draw(short_texts)}
    content = draw(st.sampled_from([text["text"], [text], [text, draw(image_parts)]]))
    return {"role": role, "content": content if role == "user" else text["text"]}


@st.composite
def chat_replies(draw):
    """Draw an assistant's message that says or does something."""
    fields = {
        "content": st.none() | short_texts,
        "name": tool_names,
        "refusal": st.text(min_size=1),
    }
    fields |= {"reasoning_content": st.text(min_size=1, max_size=5)}
    fields |= {"tool_calls": st.lists(chat_calls(), min_size=1, max_size=3)}
    message = draw(st.fixed_dictionaries({}, optional=fields))
    if not {"refusal", "reasoning_content", "tool_calls"} & set(message):
        message["content"] = draw(short_texts)
    return {"role": "assistant", **message}


@st.composite
def chat_calls(draw):
    """Draw a tool call, its arguments in any spelling."""
    arguments = draw(st.sampled_from(["{}", "", "{", '{"q": 1}', '"{}"', '{"q": 1, "q": 2}']))
    function = {"name": draw(tool_names), "arguments": arguments}
    return {"id": draw(given_ids), "type": "function", "function": function}


# Samples as a dataset can hold them: no lone surrogates, no list that is written as a text.
clean_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(
    lambda text: not text.lstrip().startswith("[")
)
said_texts = clean_texts.filter(bool)
free_mappings = st.dictionaries(
    st.sampled_from(["a", "b", "1.10", "colour", ""]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | clean_texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(clean_texts, inner, max_size=2),
        max_leaves=4,
    ),
    max_size=3,
)
turns_and_truths = st.one_of(
    st.tuples(said_texts, st.none() | clean_texts),
    st.lists(said_texts, min_size=1, max_size=3)
    .map(tuple)
    .flatmap(
        lambda turns: st.tuples(
            st.just(turns),
            st.none()
            | clean_texts
            | st.lists(clean_texts, min_size=len(turns), max_size=len(turns)).map(tuple),
        )
    ),
)


@st.composite
def dataset_rows(draw):
    """Draw a sample with any of its columns."""
    prompt, truth = draw(turns_and_truths)
    messages = st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": clean_texts}
    )
    return Sample(
        id=draw(said_texts),
        input=prompt,
        ground_truth=truth,
        tags=tuple(draw(st.lists(said_texts, max_size=2))),
        metadata=draw(free_mappings),
        extra_vars=draw(free_mappings),
        agent_args=draw(free_mappings),
        rubric_vars=draw(free_mappings),
        history=tuple(draw(st.lists(messages, max_size=2))),
    )


dataset_samples = st.lists(dataset_rows(), min_size=1, max_size=4, unique_by=lambda s: s.id)
