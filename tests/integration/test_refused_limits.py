"""Limits that cannot be kept, as the command refuses them."""

import subprocess
import sys

SUITE = """\
name: unpriced
limits:
  max_cost_usd: 1.0
samples: [{id: a, input: hi}]
target: {kind: openai, base_url: "http://127.0.0.1:9/v1", models: [m]}
graders: {g: {kind: tool, function: contains}}
"""


def test_a_cost_limit_without_a_price_is_refused_by_its_place_and_nothing_else_is_said(tmp_path):
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    command = [sys.executable, "-m", "harness.cli", "run", "suite.yaml"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("suite.yaml:3:17: limits.max_cost_usd: it cannot be kept")
    assert len(done.stderr.splitlines()) == 1
