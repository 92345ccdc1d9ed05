import sys
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import pytest
from fakes.foreign_records import FOREIGN
from zstandard import ZstdCompressor

from harness.importers.zip_entries import read_entry, unpack_zstandard

ARCHIVES = [FOREIGN / "inspect" / name for name in ("log.eval", "zstandard.eval")]


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.name)
def test_an_entry_is_unpacked_up_to_a_limit(path):
    with ZipFile(path) as archive:
        info = archive.getinfo("header.json")
        data = read_entry(archive, info, info.file_size)
        assert len(data) == info.file_size
        with pytest.raises(ValueError, match="the entry is larger than"):
            read_entry(archive, info, info.file_size - 1)


def test_an_entry_that_says_it_is_too_large_is_not_even_opened(tmp_path):
    path = tmp_path / "bomb.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("bomb", bytes(2**20))
    with ZipFile(path) as archive:
        info = archive.getinfo("bomb")
    # The archive is closed: whoever opens an entry of it gets another error.
    with pytest.raises(ValueError, match="the entry is larger than 1,000 bytes"):
        read_entry(archive, info, 1_000)


def test_frames_are_unpacked_one_after_another_and_no_further_than_asked():
    packed = ZstdCompressor().compress(b"a" * 5) + ZstdCompressor().compress(b"b" * 5)
    assert unpack_zstandard(packed, 100) == b"aaaaabbbbb"
    bomb = ZstdCompressor().compress(bytes(2**26))
    assert len(unpack_zstandard(bomb, 2**20)) <= 2**22


def test_damaged_frames_are_a_fault_of_the_archive():
    with pytest.raises(BadZipFile):
        unpack_zstandard(b"no frame at all", 100)


def test_without_the_package_the_fault_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ValueError, match=r"regrade\[inspect\]"):
        unpack_zstandard(b"", 100)
