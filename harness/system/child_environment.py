"""What a child process sees of our own environment: enough to run a program, and no secret."""

from collections.abc import Iterable, Mapping

TRIAL_MARK = "REGRADE_TRIAL"
"""The variable by which every process of a trial is known."""

RUN_MARK = "REGRADE_RUN"
"""The variable by which every process of a run is known: the run's id."""

_PLAIN = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "SHELL", "USER", "LOGNAME"}
    | {"TMPDIR", "TMP", "TEMP"}
    # Windows starts no program without these.
    | {"COMSPEC", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "WINDIR", "USERPROFILE"}
)


def plain_environment(environ: Mapping[str, str], *, passed: Iterable[str] = ()) -> dict[str, str]:
    """Return PATH, home and temporary folder, locale, user and shell, and the `passed` names."""
    wanted = frozenset(passed)
    return {
        name: value
        for name, value in environ.items()
        if name.upper() in _PLAIN or name.startswith("LC_") or name in wanted
    }
