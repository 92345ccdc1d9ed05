import os
from pathlib import Path

import pytest

from harness.system.scratch_folders import remove_folder
from harness.targets import letta_code_folders
from harness.targets.letta_code import LettaCode
from harness.targets.letta_code_backends import backend_of, model_arguments, who_arguments
from harness.targets.letta_code_environment import base_environment
from harness.targets.letta_code_flags import flag_problems, later_flags, resolve_flags, split_flags
from harness.targets.letta_code_folders import (
    ALL_BYTES,
    FILE_BYTES,
    collect_files,
    make_folders,
)
from harness.targets.letta_code_memory import read_blocks, sample_memory
from harness.targets.letta_code_variables import ANY, is_guarded, sample_environment
from harness.types.code import SuitePath
from harness.types.errors import TargetError


def path_option(path):
    return SuitePath(text=path.name, path=path)


@pytest.mark.parametrize(
    ("options", "problems"),
    [
        ({}, []),
        ({"flags": "--tools 'Read, Bash' --yolo"}, []),
        ({"flags": "--model x"}, ["flags: --model cannot be set here: the models are"]),
        ({"flags": "--output-format=json -p"}, ["flags: --output-format", "flags: -p cannot"]),
        ({"flags": "--skills 'a"}, ["flags: they cannot be split into words"]),
        ({"memory_dir": "m"}, ["memory_dir: it is used with"]),
        ({"memory_dir": "m", "memory_workspace": True}, []),
        ({"backend": "local", "base_url": "http://x"}, ["base_url: it is for agents on"]),
        ({"backend": "server", "base_url": "http://x"}, []),
        ({"collect": ("/etc/*",)}, ["collect: patterns start at"]),
        ({"collect": ("",)}, ["collect: patterns start at"]),
        ({"base_url": "http://x/v1"}, ["base_url: a Letta server's address ends before /v1"]),
        ({"permission_mode": "foo"}, ["permission_mode: unknown mode; allowed: unrestricted"]),
        ({"permission_mode": "strict"}, []),
        ({"permission_mode": "bypassPermissions"}, []),
        ({"working_dir": "x", "memory_workspace": True}, ["working_dir: memory_workspace says"]),
    ],
)
def test_options_that_cannot_work_are_told(options, problems):
    found = [f"{option}: {problem}" for option, problem in LettaCode(**options).lint()]
    assert len(found) == len(problems), found
    assert all(text.startswith(told) for text, told in zip(found, problems, strict=True)), found


def test_a_folder_of_files_is_a_folder_and_the_only_place_to_work(tmp_path):
    (tmp_path / "file").touch()
    no_folder = LettaCode(files=path_option(tmp_path / "file"))
    assert list(no_folder.lint()) == [("files", "this is no folder")]
    for other in ({"working_dir": "x"}, {"memory_workspace": True}):
        [(option, problem)] = LettaCode(files=path_option(tmp_path), **other).lint()
        assert (option, "already" in problem) == ("files", True)


@pytest.mark.parametrize(
    ("options", "environment", "model", "backend"),
    [
        ({}, {}, "openai/x", "local"),
        ({}, {"LETTA_API_KEY": "k"}, "openai/x", "server"),
        ({}, {"LETTA_API_KEY": " "}, "openai/x", "local"),
        ({}, {"OTHER": "k"}, "openai/x", "local"),
        ({"api_key_env": "OTHER"}, {"OTHER": "k"}, "openai/x", "server"),
        ({"api_key": "k"}, {}, "openai/x", "server"),
        ({}, {"LETTA_BASE_URL": "http://x"}, "openai/x", "server"),
        ({"base_url": "http://x"}, {}, "openai/x", "server"),
        ({"backend": "local"}, {"LETTA_API_KEY": "k"}, "openai/x", "local"),
        ({"backend": "server"}, {}, "openai/x", "server"),
        ({}, {"LETTA_API_KEY": "k"}, "scripted/x", "local"),
        ({}, {"LETTA_API_KEY": "k"}, "openai-compatible/x", "local"),
        ({"base_url": "http://x"}, {}, "scripted/x", "server"),
    ],
)
def test_where_agents_live_is_said_by_options_then_by_the_environment(
    monkeypatch, options, environment, model, backend
):
    for name in ("LETTA_API_KEY", "LETTA_BASE_URL", "OTHER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert backend_of(LettaCode(**options), model) == backend


def test_a_scripted_model_on_a_server_is_told_beforehand():
    models = ("scripted/x", "openai/x")
    [(option, problem)] = LettaCode(backend="server").lint_models(models)
    assert (option, problem[:10]) == ("backend", "scripted/x")
    assert list(LettaCode(backend="local").lint_models(models)) == []


def test_scripted_models_have_a_name_on_the_local_backend_only():
    local, server = LettaCode(backend="local"), LettaCode(backend="server")
    assert model_arguments(local, "scripted/x") == ["--model", "openai-compatible/scripted/x"]
    assert model_arguments(server, "openai/x") == ["--model", "openai/x"]
    with pytest.raises(TargetError, match="scripted/x is served to the local backend only"):
        model_arguments(server, "scripted/x")


@pytest.mark.parametrize(
    ("agent", "conversation", "tags", "arguments"),
    [
        (None, None, (), ["--new-agent"]),
        (None, None, ("a", "b"), ["--new-agent", "--tags", "a,b"]),
        ("agent-1", None, ("a",), ["--agent", "agent-1"]),
        ("agent-1", "conv-1", (), ["--conversation", "conv-1"]),
    ],
)
def test_who_answers_is_the_conversation_or_the_agent_or_a_new_one(
    agent, conversation, tags, arguments
):
    assert who_arguments(agent, conversation, tags) == arguments


@pytest.mark.parametrize(
    ("flags", "resolved"),
    [
        ("--skills s --tools Read", ["--skills", "/suite/s", "--tools", "Read"]),
        ("--skills=../s", ["--skills=/suite/../s"]),
        ("--skills /abs/s", ["--skills", "/abs/s"]),
        ("--import 'my agent.af'", ["--import", "/suite/my agent.af"]),
        ("--import @letta/agent", ["--import", "@letta/agent"]),
        ("--system s", ["--system", "s"]),
        (None, []),
    ],
)
def test_paths_in_flags_start_at_the_suite(flags, resolved):
    assert resolve_flags(split_flags(flags), Path("/suite")) == resolved


def test_flags_that_make_an_agent_are_left_out_of_later_turns():
    flags = split_flags("--personality kawaii --tools Read --system=codex --base-tools a,b --yolo")
    assert later_flags(flags) == ["--tools", "Read", "--yolo"]
    assert list(flag_problems("--personality kawaii --import x.af")) == []


def test_the_command_sees_little_of_our_environment_and_keys_only_where_needed():
    environ = {
        "PATH": "/bin",
        "https_proxy": "http://p",
        "LC_ALL": "C",
        "OPENAI_API_KEY": "k1",
        "AWS_PROFILE": "p",
        "LETTA_API_KEY": "k2",
        "HOME": "/root",
        "MY_TOKEN": "t",
        "SECRET_OF_OURS": "s",
    }
    always = {"DO_NOT_TRACK": "1", "DISABLE_AUTOUPDATER": "1"}
    # A home of its own takes the place of ours later.
    plain = {"PATH": "/bin", "https_proxy": "http://p", "LC_ALL": "C", "HOME": "/root", **always}
    assert base_environment(environ, pass_env=()) == plain
    keyed = base_environment(environ, pass_env=(), keys=("OPENAI_API_KEY",))
    assert keyed == {**plain, "OPENAI_API_KEY": "k1"}
    named = base_environment(environ, pass_env=("MY_TOKEN", "UNSET"))
    assert named == {**plain, "MY_TOKEN": "t"}


@pytest.mark.parametrize(
    ("extra_vars", "environment"),
    [
        ({}, {}),
        ({"env": None}, {}),
        ({"env": {"INT": 42, "NULL": None, "YES": True, "F": 1.5}},
         {"INT": "42", "NULL": "", "YES": "True", "F": "1.5"}),
        ({"env": {"LIST": [1, {"a": "ö"}]}}, {"LIST": '[1,{"a":"ö"}]'}),
    ],
)  # fmt: skip
def test_the_values_of_a_samples_variables_become_texts(extra_vars, environment):
    assert sample_environment(extra_vars, {ANY}) == environment


@pytest.mark.parametrize(
    ("env", "problem"),
    [
        ("FOO=bar", "it must be a dict, found str"),
        (["FOO"], "it must be a dict, found list"),
        ({42: "x"}, "its keys must be strings, found 42"),
        ({"A=B": "x"}, "'A=B' cannot be the name of a variable"),
        ({"": "x"}, "'' cannot be the name"),
        ({"A\0": "x"}, "cannot be the name"),
        ({"A": "x\0"}, "the value of A holds a null character"),
        ({"A B": "x"}, "cannot be the name"),
        ({"BASH_FUNC_ls%%": "() { id; }"}, "cannot be the name"),
        ({"HOME": "/"}, "'HOME' is not a sample's to set"),
    ],
)
def test_what_cannot_be_a_variable_is_refused(env, problem):
    with pytest.raises(TargetError, match="of the sample: ") as caught:
        sample_environment({"env": env}, {ANY, "HOME"})
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.code == "bad_request"


def test_a_sample_sets_only_the_variables_that_the_suite_lists():
    env = {"env": {"CLERK": "Ada"}}
    assert sample_environment(env, {"CLERK", "OTHER"}) == {"CLERK": "Ada"}
    for allowed in ((), ("OTHER",), ("clerk",)):
        with pytest.raises(TargetError, match=r"'CLERK' is not a name that target\.sample_env"):
            sample_environment(env, allowed)


GUARDED = [
    "LETTA_BASE_URL",
    "LETTA_API_KEY",
    "LETTA_CODE_ANYTHING",
    "NODE_OPTIONS",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "PATH",
    "Path",
    "HOME",
    "USERPROFILE",
    "TMPDIR",
    "BASH_ENV",
    "ENV",
    "SHELL",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_GLOBAL",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
    "https_proxy",
    "all_proxy",
    "NPM_CONFIG_REGISTRY",
    "npm_config_script_shell",
    "OPENAI_API_KEY",
    "openai_base_url",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_BASE",
    "XDG_CONFIG_HOME",
    "AWS_ENDPOINT_URL",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HF_TOKEN",
    "PROMPT_COMMAND",
    "EDITOR",
    "PAGER",
    "LESSOPEN",
    "CURL_HOME",
    "REQUESTS_CA_BUNDLE",
    "GCONV_PATH",
    "HOSTALIASES",
    "REGRADE_TRIAL",
    "REGRADE_RUN",
    "OPENSSL_CONF",
]


@pytest.mark.parametrize("name", GUARDED)
def test_what_is_run_and_where_keys_go_is_never_a_samples_to_say(name):
    with pytest.raises(TargetError, match="is not a sample's to set"):
        sample_environment({"env": {name: "x"}}, {ANY, name})
    [(option, problem)] = LettaCode(sample_env=(name,)).lint()
    assert (option, "is never a sample's" in problem) == ("sample_env", True)


@pytest.mark.parametrize(
    "name", ["CLERK", "COURIER", "DEBUG", "TASK_ID", "LANG", "TZ", "MEMORY_DIR"]
)
def test_other_names_are_not_guarded(name):
    assert not is_guarded(name)


@pytest.mark.parametrize(
    ("text", "named", "found"),
    [
        ("memory", None, "suite/memory"),
        ("a/../memory", None, "suite/memory"),
        ("{base}/suite/memory", None, "suite/memory"),
        ("../shared", "../shared", "shared"),
        ("../shared/a", "../shared", "shared/a"),
        (".", ".", "suite"),
        (".letta/m", ".letta/m", "suite/.letta/m"),
    ],
)
def test_the_memory_folder_of_a_sample_lies_below_the_suites(tmp_path, text, named, found):
    folder = tmp_path.resolve() / "suite"
    folder.mkdir()
    path = sample_memory(text.format(base=tmp_path.resolve()), folder, named)
    assert path == tmp_path.resolve() / found


@pytest.mark.parametrize(
    "text",
    ["..", "../shared", "/etc", "/", ".", "a/..", ".git/hooks", "a/.b", "out/a", "loop", "a\0b", 7,
     ["memory"], "../shared\n"],
)  # fmt: skip
def test_no_sample_chooses_a_memory_folder_elsewhere(tmp_path, text):
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    (folder / "loop").symlink_to("../../loop")
    with pytest.raises(TargetError, match="the memory folder of the sample: ") as caught:
        sample_memory(text, folder, "memory")
    assert caught.value.code == "bad_request"
    assert "\n" not in str(caught.value)


def test_the_folders_of_a_trial_are_copies_and_go_whatever_an_agent_did(tmp_path):
    files = tmp_path / "files"
    (files / "sub").mkdir(parents=True)
    (files / "sub" / "a").write_text("a", encoding="utf-8")
    folders = make_folders(tmp_path, home=None, files=files)
    assert (folders.work / "sub" / "a").read_text("utf-8") == "a"
    assert list(folders.home.iterdir()) == []
    (folders.work / "sub" / "a").chmod(0)
    (folders.work / "loop").symlink_to(folders.work)
    (folders.work / "out").symlink_to(files)
    (folders.work / "sub").chmod(0)
    remove_folder(folders.root)
    remove_folder(folders.root)
    assert not folders.root.exists()
    assert (files / "sub" / "a").exists()


def deepen(folder, depth=1_200):
    """Make folders in each other, deeper than a path may be long."""
    names = ["d" * 20] * depth
    here = os.open(folder, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("bottom.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_folders_of_any_depth_are_removed(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    gone = tmp_path / "gone"
    gone.mkdir()
    (gone / "link").symlink_to(kept)
    deepen(gone)
    (gone / ("d" * 20)).chmod(0)
    remove_folder(gone)
    assert not gone.exists()
    (tmp_path / "link").symlink_to(kept)
    remove_folder(tmp_path / "link")
    assert list(tmp_path.iterdir()) == [kept]


def test_what_cannot_be_collected_is_told_beside_what_can(tmp_path):
    (tmp_path / "a.md").write_text("a", encoding="utf-8")
    deepen(tmp_path)
    found = collect_files(tmp_path, ("*.md", "**/*.md"))
    assert found.files == {"a.md": "a"}
    assert "cannot be read: " in found.problem
    remove_folder(tmp_path / ("d" * 20))


def test_no_more_files_are_collected_than_a_trial_may_have(tmp_path, monkeypatch):
    monkeypatch.setattr(letta_code_folders, "MOST_FILES", 3)
    for number in range(4):
        (tmp_path / f"{number}").touch()
    found = collect_files(tmp_path, ("*",))
    assert (len(found.files), found.problem) == (3, "there are more than 3 files")
    assert collect_files(tmp_path, ("[0-2]",)).problem is None


def test_files_are_collected_by_patterns_and_none_from_elsewhere(tmp_path):
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    for name in ("a.py", "sub/b.py", "c.txt"):
        (work / name).write_text(name, encoding="utf-8")
    (work / "bytes.py").write_bytes(b"\xff")
    (work / "long.py").write_bytes(b"x" * (FILE_BYTES + 1))
    (tmp_path / "secret.py").write_text("secret", encoding="utf-8")
    (work / "link.py").symlink_to(tmp_path / "secret.py")
    (work / "elsewhere").symlink_to(tmp_path)
    collected = collect_files(work, ("**/*.py", "*.py", "../*.py", "elsewhere/*.py"))
    assert collected.problem is None
    assert collected.files == {
        "a.py": "a.py",
        "sub/b.py": "sub/b.py",
        "bytes.py": "\ufffd",
        "long.py": {"bytes": FILE_BYTES + 1},
    }


def test_all_collected_files_together_are_bounded(tmp_path):
    for number in range(12):
        (tmp_path / f"{number:02}").write_bytes(b"x" * FILE_BYTES)
    found = collect_files(tmp_path, ("*",)).files
    assert sum(len(text) for text in found.values() if isinstance(text, str)) == ALL_BYTES
    assert found["11"] == {"bytes": FILE_BYTES}


def test_the_files_of_a_memory_are_blocks(tmp_path):
    head = "---\nname: Human\ndescription: Who: the user\n---\n"
    texts = {
        "human.md": f"{head}Likes teal.\n---\nmore\n",
        "system/persona.md": "No head.\n",
        "open.md": "---\nname: open\nLikes red.",
        ".git/hidden.md": "no",
        "other.txt": "no",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "link.md").symlink_to("/etc/passwd")
    assert read_blocks(tmp_path) == [
        {"label": "human", "value": "Likes teal.\n---\nmore\n", "description": "Who: the user"},
        {"label": "open", "value": "---\nname: open\nLikes red.", "description": ""},
        {"label": "system/persona", "value": "No head.\n", "description": ""},
    ]
    assert read_blocks(tmp_path / "none") == []


def test_a_memory_without_bounds_is_refused(tmp_path):
    (tmp_path / "long.md").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(ValueError, match="longer than 1 MiB"):
        read_blocks(tmp_path)
    for number in range(1_001):
        (tmp_path / f"{number}.md").touch()
    with pytest.raises(ValueError, match="holds 1,002 files"):
        read_blocks(tmp_path)
