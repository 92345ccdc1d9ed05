"""Manifests and summaries: what of them can be read."""

import json

import pytest
from fakes.suites import fake_suite

from harness.running.resuming import Resume
from harness.running.run_options import RunOptions
from harness.running.runs import execute
from harness.storing.manifests import read_manifest, read_summary
from harness.types.errors import StoreError


def make_newer(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    document |= {"v": 2, "models": [{"name": "of another shape"}]}
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "read"), [("manifest.json", read_manifest), ("summary.json", read_summary)]
)
async def test_what_a_later_version_wrote_is_refused_and_stays_as_it_is(tmp_path, name, read):
    suite = fake_suite(lambda context, text: "ok")
    done = await execute(suite, RunOptions(out=tmp_path))
    make_newer(done.folder / name)
    before = (done.folder / name).read_bytes()
    with pytest.raises(StoreError, match="of version 2; this Regrade reads up to 1"):
        read(done.folder)
    with pytest.raises(StoreError, match="of version 2"):
        await execute(suite, RunOptions(), resume=Resume(folder=done.folder))
    assert (done.folder / name).read_bytes() == before
