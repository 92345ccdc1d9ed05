"""JSON Schema validators that hostile values cannot stall, made of those of `jsonschema`.

Patterns run under the time limit of patterns, every keyword looks at the clock, unique items are
compared once each, and nothing is fetched: a `$ref` leads into the schema, or to a standard one.
`format` is an annotation, as the standard (2020-12) has it.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import jsonschema
from jsonschema import validators
from jsonschema_specifications import (  # type: ignore[import-untyped]  # it has no types
    REGISTRY,
)
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from graders.json_comparison import json_key
from harness.system.json_values import load_json
from harness.system.patterns import check_time, search
from harness.types.errors import GraderError

_Keyword = Callable[[Any, Any, Any, Any], Iterator[jsonschema.ValidationError] | None]
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_LATEST = "https://json-schema.org/draft/2020-12/schema"


_MOST_UNEVALUATED = 1_000
"""How long a list or object may be for `unevaluated...`, which takes the square of its length."""


@lru_cache(maxsize=64)
def validator_of(text: str) -> Any:
    """Return the validator of a schema that is given as JSON text; it is built once.

    Raises:
        ValueError: it is no schema, or one that is not supported.
    """
    schema = load_json(text)
    kind = _kind_of(schema)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(f"{error.json_path}: {error.message}") from error
    if '"unevaluatedProperties"' in text and '"patternProperties"' in text:
        raise ValueError("`unevaluatedProperties` beside `patternProperties` is not supported")
    _check_references(kind, schema)
    return _guarded(kind)(schema, registry=REGISTRY)


def _kind_of(schema: Any) -> Any:
    version = schema.get("$schema", _LATEST) if isinstance(schema, dict) else _LATEST
    known = isinstance(version, str)
    find: Any = validators.validator_for  # its stubs know no default of None
    kind: Any = find({"$schema": version}, default=None) if known else None
    if kind is None:
        raise ValueError(f"the version {version!r} is not known; drafts 3 to 2020-12 are")
    return kind


def _check_references(kind: Any, schema: Any) -> None:
    """Follow every `$ref` of a schema.

    Raises:
        ValueError: one leads to what is not there.
    """
    known = specification_with(kind.META_SCHEMA.get("$schema", _LATEST))
    whole = known.create_resource(schema)
    base = whole.id() or ""
    waiting = [(REGISTRY.with_resource(base, whole).resolver(base), schema)]
    seen: set[int] = set()
    while waiting:
        resolver, part = waiting.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        for reference in (part[name] for name in _REFERENCES if isinstance(part.get(name), str)):
            try:
                found = resolver.lookup(reference)
            except (Unresolvable, ValueError) as error:
                raise ValueError(f"`$ref` {reference!r} leads to what is not there") from error
            waiting.append((found.resolver, found.contents))
        inner = known.create_resource(part).subresources()
        waiting += [(resolver.in_subresource(one), one.contents) for one in inner]


@lru_cache(maxsize=16)
def _guarded(kind: Any) -> Any:
    keywords = {
        name: _timed(name, _OWN.get(name, keyword)) for name, keyword in kind.VALIDATORS.items()
    }
    extend: Any = validators.extend
    return extend(kind, keywords)


def _timed(name: str, keyword: _Keyword) -> _Keyword:
    """Look at the clock before a keyword is checked."""
    costly = name.startswith("unevaluated")

    def check(
        validator: Any, value: Any, instance: Any, schema: Any
    ) -> Iterator[jsonschema.ValidationError]:
        check_time(name, what="the schema's keyword")
        if costly and isinstance(instance, dict | list) and len(instance) > _MOST_UNEVALUATED:
            raise GraderError(f"`{name}` is checked for at most {_MOST_UNEVALUATED:,} items")
        yield from keyword(validator, value, instance, schema) or ()

    return check


def _pattern(
    validator: Any, pattern: Any, instance: Any, _schema: Any
) -> Iterator[jsonschema.ValidationError]:
    if validator.is_type(instance, "string") and search(pattern, instance) is None:
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[jsonschema.ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for key, value in instance.items():
            if search(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Any
) -> Iterator[jsonschema.ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in known or any(search(pattern, key) for pattern in patterns):
            continue
        if validator.is_type(allowed, "object"):
            yield from validator.descend(value, allowed, path=key)
        elif not allowed:
            yield jsonschema.ValidationError(f"the property {key!r} is not allowed")


def _multiple_of(
    validator: Any, divisor: Any, instance: Any, _schema: Any
) -> Iterator[jsonschema.ValidationError]:
    """Divide the numbers as they are written: 19.99 is a multiple of 0.01."""
    if validator.is_type(instance, "number"):
        quotient = Fraction(repr(instance)) / Fraction(repr(divisor))
        if quotient.denominator != 1:
            yield jsonschema.ValidationError(f"{instance!r} is not a multiple of {divisor!r}")


def _unique_items(
    validator: Any, wanted: Any, instance: Any, _schema: Any
) -> Iterator[jsonschema.ValidationError]:
    if not wanted or not validator.is_type(instance, "array"):
        return
    seen: set[Any] = set()
    for item in instance:
        check_time("uniqueItems", what="the schema's keyword")
        key = json_key(item)
        if key in seen:
            yield jsonschema.ValidationError(f"the item {item!r} is there twice")
            return
        seen.add(key)


_OWN: Mapping[str, _Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
    "multipleOf": _multiple_of,
    "divisibleBy": _multiple_of,
}
