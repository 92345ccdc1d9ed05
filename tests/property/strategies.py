"""Records of every kind that can occur, hostile ones included; new types join at the end."""

import json

from hypothesis import reject
from hypothesis import strategies as st

from graders.call_matching import ReferenceCall
from graders.catalogue import EXTRACTORS, GRADERS
from graders.tool_patterns import ToolPattern
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


# Messages of Letta: as its server writes them, and hostile ones.
letta_keys = st.sampled_from([
    "message_type", "type", "id", "otid", "step_id", "run_id", "seq_id", "date", "name", "content",
    "text", "reasoning", "tool_call", "tool_calls", "tool_call_id", "arguments", "tool_return",
    "tool_returns", "status", "stdout", "stderr", "event_type", "event_data", "summary", "state",
    "hidden_reasoning", "approvals", "reason", "error_type", "message", "detail", "stop_reason",
    "usage", "prompt_tokens", "step_count", "messages", "event", "subtype", "result", "api_error",
])  # fmt: skip
letta_types = st.sampled_from([
    "user_message", "system_message", "assistant_message", "reasoning_message",
    "hidden_reasoning_message", "tool_call_message", "tool_return_message",
    "approval_request_message", "approval_response_message", "summary_message", "event_message",
    "error_message", "ping", "stop_reason", "usage_statistics", "newer_message", "",
])  # fmt: skip
letta_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | letta_types | message_words
    | st.sampled_from(["2026-01-01T00:00:00Z", "0001-01-01T00:00:00+23:00", "compaction"])
    | short_texts,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(letta_keys | short_texts, inner, max_size=6)
    ),
    max_leaves=25,
)  # fmt: skip
letta_objects = st.builds(
    lambda kind, line, fields: {"message_type": kind, "type": line, **fields},
    letta_types,
    st.sampled_from(["message", "stream_event", "system", "error", "retry", "result", "queue"]),
    st.dictionaries(letta_keys, letta_json, max_size=8),
)
plain_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
letta_streams = st.sampled_from([None, [], ["out\n"], ["a", "b"]])
letta_arguments = st.dictionaries(st.sampled_from(["q", "to"]), st.integers() | plain_texts)


def letta_return(call_id, text, *, ok, streams):
    """Make one entry of `tool_returns`."""
    status = "success" if ok else "error"
    printed = {"stdout": streams[0], "stderr": streams[1]}
    return {
        "type": "tool",
        "tool_return": text,
        "status": status,
        "tool_call_id": call_id,
    } | printed


@st.composite
def letta_steps(draw, number, *, kind="tool_call_message"):
    """Draw the messages of one step that makes calls, as a blocking reply holds them."""
    count = draw(st.integers(1, 3))
    calls = [
        {
            "name": draw(tool_names),
            "arguments": json.dumps(draw(letta_arguments)),
            "tool_call_id": f"call-{number}-{index}",
        }
        for index in range(count)
    ]
    streams = st.tuples(letta_streams, letta_streams)
    returns = [
        letta_return(
            call["tool_call_id"], draw(plain_texts), ok=draw(st.booleans()), streams=draw(streams)
        )
        for call in calls
    ]
    calling = {"message_type": kind, "tool_call": calls[0], "tool_calls": calls}
    first = {key: value for key, value in returns[0].items() if key != "type"}
    answer = {"message_type": "tool_return_message", **first, "tool_returns": returns}
    own = {"id": f"message-{number}-return", "otid": None, "name": calls[0]["name"]}
    return [*draw(letta_words(number)), _of_step(number, calling), _of_step(number, answer) | own]


@st.composite
def letta_words(draw, number):
    """Draw what a model thinks and says in one step; it may be nothing."""
    said = []
    if draw(st.booleans()):
        said.append({"message_type": "reasoning_message", "reasoning": draw(plain_texts)})
    if draw(st.booleans()):
        said.append({"message_type": "assistant_message", "content": draw(plain_texts)})
    return [_of_step(number, message) for message in said]


def _of_step(number, message):
    ids = {"id": f"message-{number}", "otid": f"{number}-{message['message_type']}"}
    step = {"step_id": f"step-{number}", "run_id": "run", "date": "2026-01-01T00:00:00+00:00"}
    return {**ids, "name": None, **step, **message}


@st.composite
def letta_replies(draw):
    """Draw a whole blocking reply: steps with calls, then an answer or none."""
    count = draw(st.integers(0, 3))
    messages = [message for n in range(count) for message in draw(letta_steps(n))]
    messages += draw(letta_words(count))
    usage = {"prompt_tokens": draw(st.integers(0, 99)), "completion_tokens": 3, "step_count": count}
    stop = {"message_type": "stop_reason", "stop_reason": "end_turn"}
    usage["message_type"] = "usage_statistics"
    return {"messages": messages, "stop_reason": stop, "usage": usage}


@st.composite
def letta_notes(draw, number):
    """Draw a message that is neither a reply nor a result."""
    text, data = draw(plain_texts), draw(free_mappings)
    alert = json.dumps({"type": "system_alert", "message": text, "time": "now"})
    return _of_step(number, draw(st.sampled_from([
        {"message_type": "user_message", "content": alert},
        {"message_type": "system_message", "content": text},
        {"message_type": "hidden_reasoning_message", "state": "redacted", "hidden_reasoning": text},
        {"message_type": "hidden_reasoning_message", "state": "omitted"},
        {"message_type": "approval_response_message", "approve": True, "reason": text,
         "approvals": [{"type": "approval", "approve": True, "tool_call_id": "c"}]},
        {"message_type": "summary_message", "summary": text, "compaction_stats": data or None},
        {"message_type": "event_message", "event_type": "compaction", "event_data": data},
        {"message_type": "error_message", "error_type": "llm_error", "message": text},
        {"message_type": "newer_message", "text": text, "data": data},
        {"message_type": "ping"},
    ])))  # fmt: skip


@st.composite
def letta_histories(draw):
    """Draw the messages of a conversation, as the server lists them from the oldest on."""
    messages = []
    for turn in range(draw(st.integers(0, 3))):
        first = 10 * turn
        parts = [{"type": "text", "text": draw(plain_texts)}, draw(image_parts)]
        asked = draw(st.sampled_from([parts[0]["text"], parts[:1], parts]))
        prompt = {"message_type": "user_message", "content": asked, "otid": None}
        messages.append(_of_step(first, prompt) | {"id": f"message-{first}-asked"})
        for number in range(first, first + draw(st.integers(0, 2))):
            kind = draw(st.sampled_from(["tool_call_message", "approval_request_message"]))
            messages += draw(letta_steps(number, kind=kind))
            messages += [draw(letta_notes(number)) for _ in range(draw(st.integers(0, 1)))]
        messages += draw(letta_words(first + 9))
    return messages


def letta_tokens(message, size):
    """Cut a whole message into the records of a stream of tokens, `size` characters each."""
    for key in {"content", "reasoning"} & message.keys():
        pieces = [message[key][i : i + size] for i in range(0, len(message[key]), size)]
        return [{**message, key: piece} for piece in pieces or [""]]
    if message["message_type"] != "tool_call_message":
        return [message]
    deltas = []
    for call in message["tool_calls"]:
        text = call["arguments"]
        deltas.append({**call, "arguments": None})
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        deltas += [{**call, "name": None, "arguments": piece} for piece in pieces]
    return [{**message, "tool_call": delta, "tool_calls": delta} for delta in deltas]


@st.composite
def mutated(draw, records, values):
    """Draw one of the records with some of its inner values replaced, left out or repeated."""
    record = json.loads(json.dumps(draw(st.sampled_from(records))))
    for _ in range(draw(st.integers(0, 4))):
        holders = [value for value in _inner_values(record) if isinstance(value, dict | list)]
        holder = draw(st.sampled_from([holder for holder in holders if holder] or [[None]]))
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = draw(st.sampled_from(keys))
        match draw(st.sampled_from(["replace", "remove", "repeat"])):
            case "replace":
                holder[key] = draw(values)
            case "remove":
                del holder[key]
            case "repeat" if isinstance(holder, list):
                holder.insert(key, holder[key])
    return record


def _inner_values(value):
    """Yield a JSON value and every value inside it."""
    yield value
    for inner in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _inner_values(inner)


# Graders of whole trajectories, of every kind and with any options that they take.
short_patterns = st.lists(patterns, max_size=2).map(tuple)
short_names = st.lists(names, max_size=2, unique=True).map(tuple)
small_counts = st.integers(0, 3)
durations = st.sampled_from(["0s", "10ms", "1.5s", "5m", "1h"])
tolerances = st.sampled_from([0.0, 0.5, 1e9])
schemas = st.recursive(
    st.one_of(
        st.sampled_from([{}, {"type": "object"}, {"$ref": "#"}, {"uniqueItems": True}]),
        st.builds(lambda pattern: {"pattern": pattern}, patterns),
        st.builds(lambda value: {"const": value}, json_values),
        st.builds(lambda kind: {"type": kind}, st.sampled_from(["string", "array", "objekt"])),
    ),
    lambda inner: st.one_of(
        st.builds(lambda one: {"items": one}, inner),
        st.builds(lambda one: {"properties": {"K41": one}, "additionalProperties": one}, inner),
        st.builds(lambda one: {"patternProperties": {"K": one}}, inner),
        st.builds(lambda one: {"not": one}, inner),
        st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner),
    ),
    max_leaves=4,
)
paths = st.sampled_from(["$", "$.a", "$..*", "$[0]", "$[?search(@, '(')]", "$.a[*].b", "$[", ""])


@st.composite
def tool_patterns(draw):
    """Draw an entry of `tool-calls` whose counts agree."""
    optional = st.none() | patterns
    least = draw(st.none() | st.integers(1, 2))
    return ToolPattern(
        name=draw(patterns | names),
        command=draw(optional),
        args=draw(st.dictionaries(texts, patterns, max_size=1)),
        pattern=draw(optional),
        result=draw(optional),
        min_count=least,
    )


def made_of(kind, **options):
    """Make graders of a kind; options that contradict each other are drawn again."""

    @st.composite
    def build(draw):
        given = {name: draw(strategy) for name, strategy in options.items()}
        try:
            return GRADERS[kind](**given)
        except ValueError:
            reject()

    return build()


def text_options(kind):
    shared = {"negate": st.just(True) if "-not-" in kind else st.booleans()}
    if kind.endswith("matches"):
        return {**shared, "pattern": patterns}
    return {**shared, "substring": texts, "case_sensitive": st.booleans()}


entries = st.lists(tool_patterns() | patterns | names, max_size=2).map(tuple)
called = {
    "required": entries,
    "disallowed": entries,
    "sequence": st.lists(patterns | names, max_size=2).map(tuple),
    "parallel": st.lists(patterns | names, max_size=2).map(tuple),
}
listed = {"required": short_names, "disallowed": short_names}
repeated = {"match": st.sampled_from(["observation", "name", "name-args"]), "tools": short_patterns}
compared = {"tolerance": tolerances, "ignore_order": st.booleans()}
modes = st.sampled_from(["equals", "contains", "matches"])
references = st.builds(ReferenceCall, name=names, arguments=json_values)
stated = {"fixture": st.sampled_from(["db", "none"]), "expected": json_values, "path": paths}
trajectory_graders = st.one_of(
    *(
        made_of(f"{what}{negated}-{how}", **text_options(f"{what}{negated}-{how}"))
        for what in ("output", "transcript")
        for negated in ("", "-not")
        for how in ("contains", "matches")
    ),
    made_of("completed"),
    made_of("exit-success"),
    *(made_of(kind, max=small_counts) for kind in ("token-budget", "turn-count", "error-count")),
    *(
        made_of(kind, max=small_counts, tools=short_patterns)
        for kind in ("tool-call-count", "step-count")
    ),
    made_of("wall-time", max=durations),
    made_of("tool-calls", **called),
    made_of("skill-invocation", **listed),
    made_of("system-event", **listed),
    made_of("max-repeat", max=st.integers(1, 3), **repeated),
    made_of(
        "loop-outcome", max_acceptable_retries=small_counts, should_loop=st.booleans(), **repeated
    ),
    made_of(
        "json-schema",
        schema=schemas,
        of=st.sampled_from(["answer", "arguments", "output"]),
        require=st.sampled_from(["all", "any"]),
        code_fence=st.booleans(),
    ),
    made_of("tool-arguments", tools=short_names, arguments=json_values, compare=modes, **compared),
    made_of(
        "trajectory-match",
        calls=st.lists(references | names, max_size=3).map(tuple),
        mode=st.sampled_from(["strict", "unordered", "subset", "superset"]),
        arguments=modes | st.just("ignored"),
        **compared,
    ),
    made_of("no-invented-values", pattern=patterns, known=st.lists(texts, max_size=1).map(tuple)),
    made_of(
        "tool-output-in-answer",
        tools=short_names,
        compare=st.sampled_from(["exact", "normalised", "values"]),
        require=st.sampled_from(["last", "any", "all"]),
        ignore=st.sampled_from([(), ("case",), ("html", "invisible")]),
    ),
    made_of(
        "tool-success-rate",
        min=st.floats(0, 1),
        tools=short_patterns,
        failure_pattern=st.none() | patterns,
    ),
    made_of("state-equals", **stated, **compared),
    made_of("state-contains", **stated, **compared),
)
snapshots = st.dictionaries(st.just("db"), json_values)


@st.composite
def trajectory_specs(draw, depth=2):
    """Draw a grader of trajectories, or a combination of some."""
    name, kind = draw(st.sampled_from("abcdef")), draw(st.sampled_from(["plain", *_COMBINED]))
    fields = {
        "name": name,
        "kind": kind,
        "turn": draw(st.none() | st.integers(-3, 3)),
        "threshold": draw(st.floats(0, 1)),
        "fingerprint": draw(texts),
    }
    if kind == "plain" or not depth:
        return GraderSpec(grader=draw(trajectory_graders), **fields)
    most = 1 if kind == "not" else 3
    inner = trajectory_specs(depth=depth - 1)
    parts = draw(st.lists(inner, min_size=1, max_size=most, unique_by=lambda part: part.name))
    option = GRADERS[kind].parts_option
    grader = GRADERS[kind](**{option: {} if most == 1 else ()})
    return GraderSpec(grader=grader, parts=tuple(parts), **fields)


_COMBINED = ("all-of", "any-of", "not")
