"""The source runs the same on every system: what only POSIX has stays in harness/system."""

import ast

import pytest

POSIX_MODULES = {
    "crypt", "curses", "fcntl", "grp", "nis", "posix", "pty", "pwd", "readline", "resource",
    "spwd", "syslog", "termios", "tty",
}  # fmt: skip
POSIX_NAMES = {
    "os": {
        "chown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getgroups", "getloadavg",
        "getpgid", "getpgrp", "getsid", "getuid", "killpg", "mkfifo", "nice", "openpty",
        "posix_spawn", "sched_getaffinity", "setgid", "setpgid", "setsid", "setuid", "statvfs",
        "sysconf", "ttyname", "uname", "wait3", "wait4", "waitid", "WNOHANG",
    },
    "signal": {
        "SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP",
        "SIGTSTP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "alarm", "pause", "pthread_kill",
        "pthread_sigmask", "setitimer", "siginterrupt", "sigwait",
    },
}  # fmt: skip
POSIX_METHODS = {"add_signal_handler", "remove_signal_handler"}
POSIX_ARGUMENTS = {"preexec_fn", "start_new_session", "process_group", "pass_fds"}


ENCODING_AT = {".read_text": 0, ".write_text": 1}
"""Calls that take an encoding by position, and where."""

MODES = {
    "open": (1, "r"),
    ".open": (0, "r"),
    "os.open": (1, "b"),
    "os.fdopen": (1, "r"),
    "tempfile.NamedTemporaryFile": (0, "w+b"),
    "tempfile.TemporaryFile": (0, "w+b"),
}
"""Calls that open a file: where they take its mode, and the mode without one."""


def posix_only(node):
    """Give the names in a node that not every system has."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return posix_imports(node)
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in POSIX_NAMES:
            return [f"{owner}.{name}"] if name in POSIX_NAMES[owner] else []
        case ast.Attribute(attr=name) if name in POSIX_METHODS:
            return [name]
        case ast.Call(keywords=keywords):
            return [k.arg for k in keywords if k.arg in POSIX_ARGUMENTS]
    return []


def posix_imports(node):
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.Import):
        return [name for name in names if name.partition(".")[0] in POSIX_MODULES]
    if node.module in POSIX_MODULES:
        return [node.module]
    return [name for name in names if name in POSIX_NAMES.get(node.module, ())]


def in_locale_encoding(node):
    """Say whether a call reads or writes text in whatever encoding the machine happens to have."""
    if not isinstance(node, ast.Call):
        return False
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if "encoding" in given or None in given:
        return False
    switches = (given.get("text"), given.get("universal_newlines"))
    return any(getattr(value, "value", None) is True for value in switches) or opens_text(
        node, given
    )


def opens_text(call, given):
    name = called(call.func)
    if name in ENCODING_AT:
        return len(call.args) <= ENCODING_AT[name]
    if name not in MODES:
        return False
    place, default = MODES[name]
    mode = call.args[place] if len(call.args) > place else given.get("mode", ast.Constant(default))
    # What is no literal mode belongs to some other `open`, such as that of a session.
    return isinstance(mode, ast.Constant) and "b" not in str(mode.value)


def called(function):
    """Give how a call is written, as far as the tables tell it apart: `os.open`, `.open`."""
    if isinstance(function, ast.Name):
        return function.id
    name = getattr(function, "attr", "")
    owner = getattr(getattr(function, "value", None), "id", "")
    return f"{owner}.{name}" if f"{owner}.{name}" in MODES else f".{name}"


def test_what_only_posix_has_is_used_in_system_alone(sources):
    found = [
        f"{source.path}:{node.lineno}: {name}"
        for source in sources
        if not source.path.startswith("harness/system/")
        for node in ast.walk(source.tree)
        for name in posix_only(node)
    ]
    assert found == []


def test_every_text_file_is_opened_in_a_named_encoding(sources):
    found = [
        f"{source.path}:{node.lineno}"
        for source in sources
        for node in ast.walk(source.tree)
        if in_locale_encoding(node)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("open(p)", True),
        ("open(p, 'w')", True),
        ("open(p, mode='a')", True),
        ("open(p, 'rb')", False),
        ("open(p, encoding='utf-8')", False),
        ("open(p, **options)", False),
        ("p.open()", True),
        ("p.open('r')", True),
        ("p.open('ab')", False),
        ("connection.open(context)", False),
        ("os.open(p, flags)", False),
        ("p.read_text()", True),
        ("p.read_text('utf-8')", False),
        ("p.write_text(t)", True),
        ("p.write_text(t, encoding='utf-8')", False),
        ("subprocess.run(c, text=True)", True),
        ("subprocess.run(c, text=True, encoding='utf-8')", False),
        ("subprocess.run(c)", False),
        ("UserMessage(text=text)", False),
        ("tempfile.NamedTemporaryFile()", False),
        ("tempfile.NamedTemporaryFile('w')", True),
    ],
)
def test_a_call_without_an_encoding_is_recognised(code, expected):
    assert in_locale_encoding(ast.parse(code).body[0].value) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import fcntl", ["fcntl"]),
        ("from resource import getrusage", ["resource"]),
        ("from signal import SIGINT, SIGHUP", ["SIGHUP"]),
        ("signal.SIGKILL", ["signal.SIGKILL"]),
        ("loop.add_signal_handler(s, f)", ["add_signal_handler"]),
        ("Popen(c, start_new_session=True)", ["start_new_session"]),
        ("import os, signal", []),
        ("signal.SIGINT", []),
        ("os.kill(p, s)", []),
    ],
)
def test_what_only_posix_has_is_recognised(code, expected):
    found = [name for node in ast.walk(ast.parse(code)) for name in posix_only(node)]
    assert found == expected
