"""Entries of `graders` as letta-evals writes judges, put as native suites have them."""

from dataclasses import replace

from harness.documents.nodes import Entry, Location, Table
from harness.documents.shapes import option_hints
from harness.loading.grader_options import GraderEntry
from harness.loading.letta_evals_keys import scalar
from harness.loading.load_context import LoadContext
from harness.system.suggestions import find_close

JUDGE = "model_judge"
JUDGES = (JUDGE, "rubric")
AGENT_JUDGE = "letta_judge"
_OF_AGENT_JUDGES = ("agent_file", "agent_id", "judge_tool_name")


def native_grader(location: Location, context: LoadContext) -> Location | None:
    """Return an entry in the native spelling; None for an agent as judge, which is a fault."""
    kind = location.text("kind")
    if kind != AGENT_JUDGE and (kind not in JUDGES or location.child("type")):
        return location
    if not isinstance(location.node, Table) or JUDGE not in context.plugins.graders:
        return location
    of_agents = ["kind"] if kind == AGENT_JUDGE else filter(location.child, _OF_AGENT_JUDGES)
    for key in of_agents:
        problem = "agents as judges (letta_judge) are not supported"
        allowed = f"write `kind: {JUDGE}` with a `model` and a `prompt`"
        context.findings.key_fault(location, key, problem, allowed)
        return None
    return _native_judge(location, location.node, context)


def _native_judge(location: Location, table: Table, context: LoadContext) -> Location:
    """Return an entry of `kind: model_judge` as one of a type with a `config`."""
    inner = option_hints(context.plugins.graders[JUDGE])
    own = option_hints(GraderEntry)
    config = {
        key: replace(entry, path=location.path_of(key))
        for key, entry in table.entries.items()
        if key not in own and (key in inner or find_close(key, [*inner, *own]) in inner)
    }
    kept = {k: e for k, e in table.entries.items() if k not in config and k != "kind"}
    kind = table.entries["kind"]
    named = scalar(JUDGE, kind.node.position)
    entries = {"type": Entry(node=named, position=kind.position, path=location.path_of("kind"))}
    return Location(
        Table(
            entries={**entries, **kept, **_config(kept, config, location)}, position=table.position
        ),
        location.path,
    )


def _config(
    kept: dict[str, Entry], config: dict[str, Entry], location: Location
) -> dict[str, Entry]:
    """Return the entry `config`, joined with one that is written so."""
    written = kept.get("config")
    if written is not None and not isinstance(written.node, Table):
        return {}
    position = location.node.position
    given = written.node.entries if written and isinstance(written.node, Table) else {}
    table = Table(entries={**config, **given}, position=position)
    return {"config": Entry(node=table, position=position, path=location.path)}
