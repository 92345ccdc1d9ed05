"""Turns of Letta Code against programs that misbehave as the real one hardly does on demand."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from fakes.driven_samples import connected, drive_sample
from fakes.letta_code_runs import processes_with, write_program

from harness.system import child_commands
from harness.targets import letta_code_turns
from harness.targets.letta_code import LettaCode, Provider
from harness.types.errors import TargetError
from harness.types.events import AssistantMessage, ErrorEvent, SystemEvent, ToolResult
from harness.types.trajectories import Usage


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(child_commands, "_GRACE_SECONDS", 0.3)
    monkeypatch.setattr(child_commands, "_REST_SECONDS", 0.3)


def agent(folder, source, **options):
    return LettaCode(command=write_program(folder, source), backend="local", **options)


async def drive(folder, source, *, target=None, **options):
    return await drive_sample(agent(folder, source, **(target or {})), **options)


def answers(driven):
    return [
        [e.text for e in turn.events if isinstance(e, AssistantMessage)] for turn in driven.turns
    ]


INIT = {"type": "system", "subtype": "init", "agent_id": "a"}
GLUED = f"print(json.dumps({INIT}), end='')"
UNENDED = "sys.stdout.write(json.dumps({'type': 'result', 'subtype': 'success', 'usage': None}))"
RESULT = 'end(usage={"prompt_tokens": 5, "completion_tokens": 7})'


@pytest.mark.parametrize(
    ("source", "texts", "usage"),
    [
        (f"init(); say('Hi.'); {RESULT}", ["Hi."], Usage(input_tokens=5, output_tokens=7)),
        (f"init(); say('Hi '); say('you.'); {RESULT}", ["Hi you."],
         Usage(input_tokens=5, output_tokens=7)),
        # glued lines
        (f"{GLUED}\nsay('Hi.'); end()", ["Hi."], Usage()),
        # bad UTF-8 and other things between the lines
        (f"init(); os.write(1, b'\\xff\\xfe\\n'); print('warning: x'); say('Hi.'); {RESULT}",
         ["Hi."], Usage(input_tokens=5, output_tokens=7)),
        # without an end of the last line
        (f"init(); say('Hi.'); {UNENDED}", ["Hi."], Usage()),
    ],
)  # fmt: skip
async def test_what_is_printed_becomes_the_turn(tmp_path, source, texts, usage):
    driven = await drive(tmp_path, source)
    assert driven.error is None
    assert answers(driven) == [texts]
    assert driven.trajectory.usage == usage


@pytest.mark.parametrize(
    ("source", "code", "message"),
    [
        ("sys.exit(1)", "agent_crash", "letta ended with return code 1: it said nothing"),
        ("sys.exit('Something broke\\nUsage: letta')", "agent_crash", "code 1: Something broke"),
        ("sys.exit(\"Unknown option '--x'\")", "bad_request", "code 1: Unknown option '--x'"),
        ("sys.exit('Agent a-1 not found')", "not_found", "code 1: Agent a-1 not found"),
        ("sys.exit('Missing LETTA_API_KEY')", "unauthorized", "code 1: Missing LETTA_API_KEY"),
        ("sys.exit('Failed to connect to Letta server')", "connection_lost", "Failed to connect"),
        ("init(); say('Hi.'); sys.exit(7)", "agent_crash", "letta ended with return code 7"),
        ("os.kill(os.getpid(), 9)", "agent_crash", "letta ended with signal SIGKILL"),
        ("pass", "bad_reply", "No agent_id found"),
        ("print('{}')", "bad_reply", "No agent_id found"),
        ("init()", "stream_cut", "the command ended without a result"),
        ("init(); end(subtype='error')", "agent_crash", "the turn ended as error"),
        ("init(); tell(type='error', message='503: {\"message\": \"busy\"}'); sys.exit(1)",
         "overloaded", "letta: 503: busy"),
        ("init(); tell(type='error', stop_reason='max_steps', message='Enough'); sys.exit(1)",
         "max_steps", "letta: Enough"),
        ("init(); tell(type='retry'); tell(type='error', message='Connection error.'); sys.exit(1)",
         "connection_lost", "letta: Connection error. (the command itself has asked 2 times)"),
        ("init(); tell(type='error', message='What now?'); sys.exit(1)",
         "server_error", "letta: What now?"),
    ],
)  # fmt: skip
async def test_what_went_wrong_is_told_in_one_line(tmp_path, source, code, message):
    driven = await drive(tmp_path, source)
    assert (driven.error.code, message in str(driven.error)) == (code, True), str(driven.error)
    assert "\n" not in str(driven.error)


async def test_a_failure_that_the_command_got_over_is_none(tmp_path):
    source = "init(); tell(type='error', message='500: x'); tell(type='retry'); say('Hi.'); end()"
    driven = await drive(tmp_path, source)
    assert driven.error is None
    assert [e.message for e in driven.of(ErrorEvent)] == ["500: x"]


async def test_a_line_of_no_known_shape_is_recorded_and_the_turn_goes_on(tmp_path):
    source = "init(); tell(type='stream_event', event=3); say('Hi.'); end()"
    driven = await drive(tmp_path, source)
    assert driven.error is None
    [unread] = driven.of(ErrorEvent)
    assert (unread.kind, "event must be an object" in unread.message) == ("unread_line", True)


async def test_lines_that_are_no_json_are_kept_up_to_a_number(tmp_path):
    source = "init(); print('x' * 10_000); [print('noise') for _ in range(999)]; say('Hi.'); end()"
    driven = await drive(tmp_path, source)
    noise = driven.of(SystemEvent)
    assert len(noise) == 101
    assert len(noise[0].text) == 2_000
    assert noise[-1].text == "900 more lines that are no JSON"


async def test_a_flood_of_events_ends_the_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(letta_code_turns, "MOST_EVENTS", 1_000)
    driven = await drive(tmp_path, "init()\nwhile True: tell(type='retry')")
    assert (driven.error.code, "more than 1,000 events" in str(driven.error)) == (
        "agent_crash",
        True,
    )


async def test_a_flood_of_bytes_ends_the_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(child_commands, "OUTPUT_BYTES", 100_000)
    driven = await drive(tmp_path, "init()\nwhile True: sys.stdout.write('x' * 1000)")
    assert (driven.error.code, "has printed more than" in str(driven.error)) == (
        "agent_crash",
        True,
    )


async def test_a_huge_result_of_a_tool_arrives_whole(tmp_path):
    source = """
init()
call = {"name": "Bash", "tool_call_id": "c", "arguments": "{}"}
tell(type="message", message_type="tool_call_message", id="t", tool_call=call)
tell(type="message", message_type="tool_return_message", id="r", status="success",
     tool_call_id="c", tool_return="x" * 8_000_000)
end()
"""
    driven = await drive(tmp_path, source)
    assert driven.error is None
    assert [len(result.output) for result in driven.of(ToolResult)] == [8_000_000]


async def test_the_prompt_comes_by_stdin_and_pwd_is_filled_in(tmp_path):
    echo = "init(); say(sys.stdin.read()); end()"
    in_place = await drive(tmp_path, echo, input="Look in {pwd} and {pwd}.")
    assert answers(in_place) == [[f"Look in {Path.cwd()} and {Path.cwd()}."]]
    target = {"working_dir": str(tmp_path / "place"), "sandbox": False}
    working = await drive(tmp_path, echo, target=target, input="{pwd}/{x}")
    assert answers(working) == [[f"{tmp_path}/place/{{x}}"]]


async def test_an_empty_prompt_is_refused_before_the_command_is_asked(tmp_path):
    driven = await drive(tmp_path, "sys.exit('asked')", input=" \n")
    assert (driven.error.code, "the prompt is empty" in str(driven.error)) == ("bad_request", True)


ARGUMENTS = "init(); sys.stdin.read(); say(json.dumps(sys.argv[1:])); end()"


async def test_later_turns_name_the_conversation_and_later_sessions_the_agent(tmp_path):
    target = {"flags": "--personality kawaii --tools Read", "permission_mode": "strict"}
    driven = await drive(
        tmp_path, ARGUMENTS, target=target, input=("a", "b", "c"), sessions=(2, 1), model="p/m"
    )
    first, second, third = (json.loads(text) for [text] in answers(driven))
    rest = ["--tools", "Read", "--output-format", "stream-json", "-p"]
    mode = ["--permission-mode", "strict"]
    backend = ["--backend", "local"]
    new = ["--personality", "kawaii"]
    assert first == [*backend, "--new-agent", "--model", "p/m", *mode, *new, *rest]
    assert second == [*backend, "--conversation", "local-conv-1", *mode, *rest]
    assert third == [*backend, "--agent", "agent-local-1", "--model", "p/m", *mode, *rest]


async def test_every_trial_has_its_own_home_and_nothing_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "temporary").mkdir()
    source = (
        "init(); open(os.environ['HOME'] + '/kept', 'x'); open(os.environ['TMPDIR'] + '/t', 'x')\n"
        "open('here', 'x'); say(os.environ['HOME']); end()"
    )
    async with connected(agent(tmp_path, source)) as drive_one:
        homes = [answers(await drive_one())[0][0] for _ in range(2)]
    assert homes[0] != homes[1]
    assert list((tmp_path / "temporary").iterdir()) == []


async def test_folders_are_kept_where_that_is_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    driven = await drive(tmp_path, "init(); open('made', 'x'); end()", target={"keep_files": True})
    assert driven.error is None
    assert len(list(tmp_path.glob("regrade-letta-code-*/trial-*/*/made"))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "init(); say('Hi'); time.sleep(600)",
        "import signal; signal.signal(15, signal.SIG_IGN); init(); say('Hi'); time.sleep(600)",
        "init(); say('Hi'); subprocess.run(['sleep', '600'])",
        "init(); say('Hi'); subprocess.run(['sleep', '600'], start_new_session=True)",
        "init(); say('Hi'); os.close(1); os.close(2); time.sleep(600)",
    ],
)
async def test_at_the_limit_a_turn_keeps_what_it_has_and_leaves_nobody(tmp_path, source):
    mark = str(tmp_path)
    driven = await drive(tmp_path, source, target={"pass_env": ("MARKED",)}, turn_seconds=1.5)
    assert driven.error.code == "turn_timeout"
    assert answers(driven) == [["Hi"]]
    assert processes_with(f"{mark}/stand_in.py") == []


async def test_what_an_agent_leaves_running_goes_with_its_trial(tmp_path):
    mark = f"{tmp_path}-left"
    started = "; ".join(
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}], "
        f"start_new_session={own})"
        for own in (True, False)
    )
    driven = await drive(tmp_path, f"init(); {started}; say('Hi.'); end()")
    assert driven.error is None
    assert processes_with(mark) == []


KEY = "kkk-0123456789"


async def test_keys_that_the_command_is_given_are_stored_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_TOKEN", KEY[::-1])
    source = """
init()
open("seen.txt", "w").write(os.environ["OPENAI_API_KEY"])
call = {"name": "Bash", "tool_call_id": "c", "arguments": "{}"}
tell(type="message", message_type="tool_call_message", id="t", tool_call=call)
tell(type="message", message_type="tool_return_message", id="r", status="success",
     tool_call_id="c", tool_return=os.environ["OPENAI_API_KEY"] + os.environ["MY_TOKEN"])
say("It is " + os.environ["OPENAI_API_KEY"][:5]); say(os.environ["OPENAI_API_KEY"][5:])
print(os.environ["MY_TOKEN"])
sys.exit("401 for " + os.environ["OPENAI_API_KEY"])
"""
    target = {"pass_env": ("MY_TOKEN",), "collect": ("*",)}
    driven = await drive(tmp_path, source, target=target, model="openai/x")
    shown = f"{driven.events} {driven.error} {driven._driven.snapshots}"
    assert "seen.txt" in shown
    assert "[redacted]" in shown
    assert KEY not in shown
    assert KEY[::-1] not in shown


async def test_scripted_models_see_no_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    source = "init(); say(str('OPENAI_API_KEY' in os.environ)); end()"
    driven = await drive(tmp_path, source, model="scripted/x")
    assert answers(driven) == [["False"]]


async def test_a_provider_that_refuses_ends_the_run_before_it_begins(tmp_path):
    refusal = "Error: 401 Incorrect API key provided"
    target = LettaCode(
        command=write_program(tmp_path, "", connect=refusal),
        backend="local",
        provider=Provider(base_url="http://127.0.0.1:9/v1"),
    )
    with pytest.raises(TargetError, match=":9/v1: Error: 401") as caught:
        await drive_sample(target)
    assert caught.value.code == "unauthorized"


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("no-such-letta-code", "not_found", 'the command "no-such-letta-code"'),
        ("'", "not_found", 'the command "\'" of Letta Code is not there'),
        ("", "not_found", 'the command "" of Letta Code is not there'),
        (
            f"{shlex.quote(sys.executable)} -c 'print(3)'",
            "bad_request",
            "is not Letta Code: asked for",
        ),
        (
            f"{shlex.quote(sys.executable)} -c 'import sys; sys.exit(3)'",
            "bad_request",
            "it says nothing",
        ),
    ],
)
async def test_what_is_no_letta_code_ends_the_run_before_it_begins(command, code, message):
    with pytest.raises(TargetError, match="Letta Code") as caught:
        await drive_sample(LettaCode(command=command, backend="local"))
    assert caught.value.code == code
    assert message in str(caught.value)
    assert "pip install letta==" in caught.value.line


EVIL = {"env": {"LETTA_BASE_URL": "http://127.0.0.1:9"}}


@pytest.mark.parametrize(
    ("extra_vars", "target", "problem"),
    [
        (EVIL, {"sample_env": ("*",)}, "'LETTA_BASE_URL' is not a sample's to set"),
        ({"env": {"CLERK": "Ada"}}, {}, "'CLERK' is not a name that target.sample_env lists"),
        ({"env": {"MEMORY_DIR": "/etc"}}, {"sample_env": ("*",)}, '"/etc" is no folder below'),
        ({"env": {"MEMORY_DIR": "../x"}}, {"memory_workspace": True}, '"../x" is no folder below'),
        ({"memory_dir": "/etc"}, {"memory_workspace": True}, '"/etc" is no folder below'),
        ({"memory_dir": "\ud800"}, {"memory_workspace": True}, "it must be a path"),
        ({"memory_dir": "x" * 5_000}, {"memory_workspace": True}, "cannot be made"),
    ],
)
async def test_a_sample_is_refused_that_asks_for_what_is_not_its_own(
    tmp_path, extra_vars, target, problem
):
    driven = await drive(tmp_path, "sys.exit('asked')", target=target, extra_vars=extra_vars)
    assert (driven.error.code, problem in str(driven.error)) == ("bad_request", True)
    assert len(str(driven.error)) < 500


async def test_a_sample_sets_what_it_may(tmp_path):
    source = "init(); say(os.environ['CLERK'] + ' ' + os.environ['REGRADE_RUN']); end()"
    driven = await drive(
        tmp_path,
        source,
        target={"sample_env": ("CLERK",)},
        extra_vars={"env": {"CLERK": "Ada"}},
    )
    [[text]] = answers(driven)
    assert text.startswith("Ada ")


@pytest.mark.parametrize(
    "source",
    [
        'init(); print(\'{"type":"message","id\'); say(\'Hi.\'); end()',
        "init(); say('Hi.'); end(); sys.stdout.write('{\"type\":\"mess')",
        "init(); print('{\"a\":1}{\"type\":'); say('Hi.'); end()",
        "init(); print('{\"type\":\"message\",' + 'x' * 200); say('Hi.'); end()",
    ],
)
async def test_a_line_that_is_no_whole_record_is_an_outage(tmp_path, source):
    driven = await drive(tmp_path, source)
    assert (driven.error.code, "no whole record: {" in str(driven.error)) == ("bad_reply", True)
    assert answers(driven) == [["Hi."]]


async def test_a_line_that_is_too_long_is_an_outage(tmp_path, monkeypatch):
    monkeypatch.setattr(child_commands, "LINE_BYTES", 100_000)
    driven = await drive(tmp_path, "init(); say('Hi.'); say('x' * 100_000); end()")
    assert (driven.error.code, "a line of more than" in str(driven.error)) == ("bad_reply", True)


DEEP = """
here = os.open('.', os.O_RDONLY)
for _ in range(1200):
    os.mkdir('d' * 20, dir_fd=here)
    here, old = os.open('d' * 20, os.O_RDONLY, dir_fd=here), here
    os.close(old)
open('kept.txt', 'w').write('kept')
init(); say('Hi.'); end()
"""


async def test_what_an_agent_makes_of_its_folder_is_no_outage(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    driven = await drive(tmp_path, DEEP, target={"collect": ("*.txt", "**/*.txt")})
    assert (driven.error, driven.warnings) == (None, [])
    state = driven._driven.snapshots["agent_state"]
    assert state["files"] == {"kept.txt": "kept"}
    assert "cannot be read" in state["files_problem"]
    assert list((tmp_path / "temporary").iterdir()) == []


async def test_what_an_agent_makes_of_its_memory_is_its_own_doing(tmp_path):
    source = """
place = os.environ['HOME'] + '/.letta/lc-local-backend/memfs/agent-local-1/memory'
os.makedirs(place)
open(place + '/long.md', 'w').write('x' * (2**20 + 1))
init(); say('Hi.'); end()
"""
    driven = await drive(tmp_path, source)
    assert (driven.error.code, "longer than 1 MiB" in str(driven.error)) == ("agent_crash", True)
