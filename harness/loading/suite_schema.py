"""The JSON Schema (2020-12) of a native suite, made from the dataclasses that check it."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from harness.loading.gate_entries import GROUPS
from harness.loading.grader_options import GraderEntry
from harness.loading.plugins import find_all_plugins
from harness.loading.sample_rows import IDS, INPUTS, MAPPINGS, TRUTHS
from harness.loading.suite_heads import SuiteHead
from harness.loading.target_entry import TargetHead
from harness.types.suites import GateSpec, WeightedGate

_Schema = dict[str, Any]
_TEXT: _Schema = {"type": "string"}
_TEXTS: _Schema = {"type": "array", "items": _TEXT, "minItems": 1}
_GATE: _Schema = {"$ref": "#/$defs/gate"}
_GRADED_SAMPLES: _Schema = {
    "properties": {"samples": {"items": {"required": ["graders"]}}},
    "required": ["samples"],
}
_REFERENCE: _Schema = {"type": "string", "pattern": r"\$\{"}
_CODE: _Schema = {
    "type": "string",
    "pattern": r"\.py:[^:/\\]+$",
    "description": "A function of a Python file beside the suite: file.py:function.",
}


def suite_schema() -> dict[str, Any]:
    """Return the schema of a suite, with the options of all graders, extractors and targets."""
    plugins = find_all_plugins()
    head = _record(SuiteHead)
    samples = {"type": "array", "items": _sample(), "minItems": 1}
    properties = {
        **head["properties"],
        "samples": {**samples, "description": "Samples written here; or write `dataset`."},
        "target": _target(plugins.targets),
        "graders": _graders(plugins.graders, plugins.extractors),
        "gates": {
            "type": "array",
            "items": _GATE,
            "description": "Conditions on the run's numbers that decide the exit code.",
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A suite of Regrade",
        "type": "object",
        "properties": properties,
        "required": ["name"],
        "anyOf": [{"required": ["graders"]}, _GRADED_SAMPLES],
        # A suite that only grades takes its samples from the records.
        "oneOf": [
            {"required": ["dataset"]},
            {"required": ["samples"]},
            {"not": {"anyOf": [{"required": [key]} for key in ("dataset", "samples", "target")]}},
        ],
        "additionalProperties": False,
        "$defs": {"gate": _gate()},
    }


def _gate() -> _Schema:
    """Return the schema of a gate: on one metric, on several by weight, or a group of gates."""
    groups = [
        {
            "type": "object",
            "properties": {needs: {"type": "array", "items": _GATE, "minItems": 1}},
            "required": [needs],
            "additionalProperties": False,
        }
        for needs in GROUPS
    ]
    return {"oneOf": [_record(GateSpec), _record(WeightedGate), *groups]}


def _record(record: type[Any]) -> _Schema:
    """Return the schema of a dataclass, with nothing referred to and unknown keys refused."""
    adapter: TypeAdapter[Any] = TypeAdapter(record)
    schema = adapter.json_schema(schema_generator=GenerateJsonSchema)
    definitions = schema.pop("$defs", {})
    closed: _Schema = _closed(schema, definitions)
    return closed


def _closed(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_closed(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _closed({**definitions[name], **rest}, definitions)
    closed = {key: _closed(value, definitions) for key, value in schema.items() if key != "title"}
    if "properties" in schema:
        # Here "title" is no annotation but may be the name of an option.
        options = schema["properties"]
        closed["properties"] = {key: _closed(value, definitions) for key, value in options.items()}
        closed["additionalProperties"] = False
    return closed


def _variant(schema: _Schema, key: str, name: str, extra: Mapping[str, Any]) -> _Schema:
    """Return the schema of an entry in which `key` is `name`, its other keys as `extra` says."""
    properties = {**schema["properties"], **extra, key: {"const": name}}
    return {**schema, "properties": properties, "required": [key]}


def _described(record: type[Any]) -> str:
    return " ".join((record.__doc__ or "").split("\n\n")[0].split())


def _graders(graders: Mapping[str, type[Any]], extractors: Mapping[str, type[Any]]) -> _Schema:
    entry = _record(GraderEntry)
    entry["properties"]["extractor"] = {
        "description": entry["properties"]["extractor"]["description"],
        "anyOf": [{"enum": sorted(extractors)}, _CODE],
    }
    variants = [*_named_graders(entry, graders), *_custom_graders(entry)]
    options = [_extractor_options(name, extractors[name]) for name in sorted(extractors)]
    grader = {"allOf": [{"oneOf": variants}, *options]}
    return {
        "description": "What is checked: a mapping by name, or a list.",
        "oneOf": [
            {
                "type": "object",
                "additionalProperties": grader,
                "propertyNames": {"not": {"const": "trial"}},
                "minProperties": 1,
            },
            {"type": "array", "items": grader, "minItems": 1},
        ],
    }


def _named_graders(entry: _Schema, graders: Mapping[str, type[Any]]) -> Iterable[_Schema]:
    for name, grader in sorted(graders.items()):
        config = _record(grader)
        needs = ["config"] if config.get("required") else []
        without: _Schema = dict.fromkeys(("kind", "function", "isolation"), False)
        if grader.reads == "trajectory":
            without |= {"extractor": False, "extractor_config": False}
        by_type = _variant(entry, "type", name, {"config": config, **without})
        yield {**by_type, "required": ["type", *needs], "description": _described(grader)}
        if grader.reads == "submission":
            extra = {"config": config, "type": False, "isolation": False}
            by_function = _variant(entry, "function", name, extra)
            yield {
                **by_function,
                "required": ["function", *needs],
                "description": _described(grader),
            }


def _custom_graders(entry: _Schema) -> Iterable[_Schema]:
    for key, other in (("type", "function"), ("function", "type")):
        properties = {**entry["properties"], key: _CODE, other: False}
        if key == "type":
            properties["kind"] = False
        yield {**entry, "properties": properties, "required": [key]}


def _extractor_options(name: str, extractor: type[Any]) -> _Schema:
    """Say what the options of an extractor are, where an entry names it."""
    options = _record(extractor)
    needed = {"required": ["extractor_config"]} if options.get("required") else {}
    return {
        "if": {"properties": {"extractor": {"const": name}}, "required": ["extractor"]},
        "then": {"properties": {"extractor_config": options}, **needed},
    }


def _target(targets: Mapping[str, type[Any]]) -> _Schema:
    head = _record(TargetHead)["properties"]
    return {
        "description": "The agent under test; a suite that only grades has none.",
        "oneOf": [_target_kind(head, name, targets[name]) for name in sorted(targets)],
    }


def _target_kind(head: Mapping[str, Any], name: str, target: type[Any]) -> _Schema:
    schema: _Schema = _with_references(_record(target))
    properties = {**head, **schema["properties"], "kind": {"const": name}}
    return {
        **schema,
        "description": _described(target),
        "properties": properties,
        "required": ["kind", *schema.get("required", [])],
        "not": {"required": ["model", "models"]},
    }


def _with_references(schema: Any) -> Any:
    """Let `${NAME}` stand for numbers, truth values and patterned texts of a target's options."""
    if isinstance(schema, list):
        return [_with_references(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in {"integer", "number", "boolean"} or "pattern" in schema:
        annotations = {k: schema[k] for k in ("description", "default") if k in schema}
        plain = {key: value for key, value in schema.items() if key not in annotations}
        return {**annotations, "anyOf": [plain, _REFERENCE]}
    return {key: _with_references(value) for key, value in schema.items()}


def _sample() -> _Schema:
    """Return the schema of an inline sample; further columns go to its metadata."""
    scalar = {"type": ["string", "number", "boolean"]}
    turns = {"oneOf": [_TEXT, _TEXTS]}
    truth = {"oneOf": [scalar, {"type": "array", "items": scalar}, {"type": "null"}]}
    return {
        "type": "object",
        "properties": {
            **dict.fromkeys(IDS, scalar),
            **dict.fromkeys(INPUTS, turns),
            **dict.fromkeys(TRUTHS, truth),
            **{name: {"type": "object"} for name in MAPPINGS},
            "tags": {"oneOf": [_TEXT, {"type": "array", "items": _TEXT}]},
            "history": {
                "type": "array",
                "items": {"type": "object", "required": ["role"]},
            },
            "graders": {"type": ["array", "object"]},
            "sessions": {"type": "array", "items": turns, "minItems": 1},
            "rubric": scalar,
            "rubric_path": _TEXT,
        },
        "anyOf": [{"required": [name]} for name in (*INPUTS, "sessions")],
    }
