"""Before a read, only our own block files leave the page cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.machine import page_cache


@pytest.fixture
def advised(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of the files evicted from the cache completely."""
    names: list[str] = []

    def advise(descriptor: int, offset: int, length: int, advice: int) -> None:
        assert (offset, length, advice) == (0, 0, os.POSIX_FADV_DONTNEED)
        names.append(Path(f"/proc/self/fd/{descriptor}").resolve().name)

    monkeypatch.setattr(os, "posix_fadvise", advise)
    yield names


def test_exactly_the_block_files_are_evicted(tmp_path: Path, advised: list[str]) -> None:
    sizes = {"a/blk_1": 5, "a/blk_1_1001.meta": 2, "b/c/blk_2": 7, "b/edits": 100, "VERSION": 3}
    for name, size in sizes.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    assert page_cache.evict(str(tmp_path)) == 5 + 2 + 7
    assert sorted(advised) == ["blk_1", "blk_1_1001.meta", "blk_2"]


def test_dirty_and_writeback_both_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "MemFree: 9 kB\nDirty:   100 kB\nWriteback:  20 kB\nWritebackTmp: 4000 kB\n"
    monkeypatch.setattr(Path, "read_text", lambda self, *args, **kwargs: text)
    assert page_cache.unwritten_bytes() == 120 * 1024
