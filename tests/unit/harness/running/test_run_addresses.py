"""Which run a baseline is exported of."""

import pytest
from fakes.ran_commands import regrade
from fakes.suites import fake_suite

import harness
from harness.running.run_addresses import find_exported
from harness.storing.baseline_files import Pin, pin_baseline
from harness.system.clock import now
from harness.types.errors import InputError
from harness.types.suites import GateSpec


@pytest.fixture
def runs(tmp_path):
    """Give a folder of runs: two good ones of one suite, and a later one that misses its gate."""
    out = tmp_path / "runs"
    gates = (GateSpec(metric="trial", aggregation="pass_rate", op="gte", value=0.9),)
    for says in ("ok", "ok", "no"):
        harness.run(fake_suite(lambda context, text, says=says: says, gates=gates), out=out)
    return out


def names(out):
    return sorted(path.name for path in out.glob("[!.]*") if path.is_dir())


def test_the_latest_baseline_is_the_newest_run_that_met_its_gates(runs):
    assert find_exported("latest", runs, None).name == names(runs)[1]
    assert find_exported("latest", runs, "fake").name == names(runs)[1]
    with pytest.raises(
        InputError, match=r"no complete run of the whole suite that met its gates .* \(other\)"
    ):
        find_exported("latest", runs, "other")


def test_the_pinned_run_is_that_of_the_suite_which_has_one(runs):
    with pytest.raises(InputError, match="no run is pinned"):
        find_exported("pinned", runs, None)
    pin_baseline(runs, "fake", Pin(run=names(runs)[0], set_at=now()))
    assert find_exported("pinned", runs, None).name == names(runs)[0]
    pin_baseline(runs, "other", Pin(run=names(runs)[1], set_at=now()))
    with pytest.raises(InputError, match="several suites have a pinned run"):
        find_exported("pinned", runs, None)
    assert find_exported("pinned", runs, "other").name == names(runs)[1]


def test_a_run_is_exported_by_its_name_too_and_it_is_said_which_was(runs, tmp_path):
    name = names(runs)[1]
    assert find_exported(name, runs, None) == runs / name
    code, said, _ = regrade(tmp_path, "baseline", "export", "latest", "--out", "b.zip")
    assert (code, said) == (0, f"wrote b.zip: {name}\n")
    code, _, wrong = regrade(tmp_path, "baseline", "export", "gone")
    assert (code, wrong.count("\n")) == (2, 1)
