"""Options that met nothing in a whole run, such as a misspelt tool that is disallowed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.types.suites import GraderSpec
from harness.types.trials import Trial


class UnmatchedOptions:
    """Keeps, for each grader that says so, the options that no trial has met so far."""

    def __init__(self, specs: Iterable[GraderSpec]) -> None:
        self._watched = tuple(filter(_is_watched, specs))
        self._unmatched: dict[str, dict[str, None]] = {}

    def watches(self, specs_of_sample: Iterable[GraderSpec] = ()) -> bool:
        """Say whether the grades of a trial are looked at."""
        return bool(self._watched) or any(map(_is_watched, specs_of_sample))

    def add(self, trial: Trial, specs_of_sample: Iterable[GraderSpec] = ()) -> None:
        """Take the grades of one trial."""
        for spec in (*self._watched, *filter(_is_watched, specs_of_sample)):
            grade = trial.grades.get(spec.name)
            if grade is not None:
                self._take(spec, spec.name, grade.details)

    def _take(self, spec: GraderSpec, name: str, details: Mapping[str, Any]) -> None:
        listed = details.get("unmatched")
        if isinstance(listed, list) and _expects_matches(spec):
            known = self._unmatched.get(name)
            kept = [str(option) for option in listed if known is None or option in known]
            self._unmatched[name] = dict.fromkeys(kept)
        parts = details.get("parts") if spec.parts else None
        for part in spec.parts if isinstance(parts, Mapping) else ():
            inner = _details_of(parts.get(part.name)) if parts else {}
            self._take(part, f"{name}.{part.name}", inner)

    def warnings(self) -> Iterator[str]:
        """Return a line for every option that met nothing in any trial."""
        for name, options in self._unmatched.items():
            for option in options:
                yield f"{name}: {option} matched nothing in the whole run; is it spelt right?"


def _is_watched(spec: GraderSpec) -> bool:
    return any(map(_expects_matches, spec.with_parts))


def _expects_matches(spec: GraderSpec) -> bool:
    return getattr(spec.grader, "expects_matches", False) is True


def _details_of(part: Any) -> Mapping[str, Any]:
    details = part.get("details") if isinstance(part, Mapping) else None
    return details if isinstance(details, Mapping) else {}
