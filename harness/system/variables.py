"""`${NAME}` in a text: the text and the environment come in, the filled text goes out."""

import re
from collections.abc import Callable, Mapping

_REFERENCE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")


class VariableError(ValueError):
    """A reference cannot be filled in: `problem` says why, `allowed` what can be done."""

    def __init__(self, problem: str, allowed: str) -> None:
        super().__init__(f"{problem}; {allowed}")
        self.problem = problem
        self.allowed = allowed


def _hear_nothing(_value: str) -> None:
    """Take note of no value."""


def fill_variables(
    text: str, environ: Mapping[str, str], *, on_value: Callable[[str], None] = _hear_nothing
) -> str:
    """Fill in `${NAME}` and `${NAME:-default}`; `$${NAME}` is the literal text.

    A default counts where the variable is unset or empty, as in a shell. What is filled in is
    not looked at again. `on_value` receives every value that the environment gave.

    Raises:
        VariableError: a variable is unset and has no default, or `${` begins no reference.
    """

    def fill(match: re.Match[str]) -> str:
        if match.group() == "$${":
            return "${"
        name, default = match.group(1), match.group(2)
        if name is None:
            raise VariableError(
                "`${` begins no variable", "write ${NAME}, ${NAME:-default}, or $${ for the text ${"
            )
        if default is not None and not environ.get(name):
            return str(default)
        if name not in environ:
            problem = f"the environment variable {name} is not set"
            raise VariableError(problem, f"set it, or write ${{{name}:-default}}")
        on_value(environ[name])
        return environ[name]

    return _REFERENCE.sub(fill, text)
