"""Bytes asked, processed and touched, against the tool's own loops run step by step."""

from __future__ import annotations

import random
from typing import Any

import pytest

from workloads.testdfsio.job import (
    distinct_bytes,
    length_after_bytes,
    processed_bytes,
    size_argument_bytes,
)
from workloads.testdfsio.setting import DfsioSetting

MIB = 2**20


def setting(mode: Any, **knobs: Any) -> DfsioSetting:
    fixed = {"files": 1, "file_size_mib": 64, "read_size_bytes": MIB}
    return DfsioSetting(mode=mode, **{**fixed, **knobs})


def read_by_the_tool(one: DfsioSetting, size_argument: int) -> tuple[int, int]:
    """(bytes processed, distinct bytes) of RandomReadMapper.doIO on one file, read by read."""
    length, read = one.file_size_mib * MIB, one.read_size_bytes
    skip = {"random": 0, "backward": -read}.get(one.mode, one.skip_size_bytes or read)
    draw = random.Random(5)

    def following(current: int) -> int:
        if skip == 0:
            return draw.randrange(length)
        if skip > 0:
            return 0 if current < 0 else current + read + skip
        return max(0, length - read) if current < 0 else max(0, current + skip)

    done, position, seen = 0, following(-1), []
    while done < size_argument:
        if position >= length:
            break
        got = min(read, length - position)
        seen.append((position, position + got))
        done, position = done + got, following(position)
    return done, _union(seen)


def _union(spans: list[tuple[int, int]]) -> int:
    total = reached = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


SKIPS = [
    {},
    {"skip_size_bytes": 3 * MIB},
    {"skip_size_bytes": 1},
    {"skip_size_bytes": 100 * MIB},
    {"read_size_bytes": 1_000_000},
    {"read_size_bytes": 65536, "skip_size_bytes": 10_000},
    {"file_size_mib": 1},
]


@pytest.mark.parametrize("knobs", SKIPS)
def test_a_skip_is_asked_for_what_its_reads_can_give_and_no_more(knobs: dict[str, int]) -> None:
    one = setting("skip", **knobs)
    asked = size_argument_bytes(one)
    assert read_by_the_tool(one, asked) == (asked, asked)
    assert one.asked_bytes == distinct_bytes(one) == asked
    # asked for more, it stops early at the same amount and says nothing
    assert read_by_the_tool(one, asked + 10 * MIB)[0] == asked


def test_the_default_skip_reads_half() -> None:
    assert size_argument_bytes(setting("skip")) == 32 * MIB


@pytest.mark.parametrize("read", (MIB, 1_000_000, 65536))
@pytest.mark.parametrize("mode", ("random", "backward"))
def test_positioned_reads_process_what_is_said(mode: str, read: int) -> None:
    one = setting(mode, read_size_bytes=read)
    done, distinct = read_by_the_tool(one, size_argument_bytes(one))
    least, most = processed_bytes(one)
    assert least <= done <= most
    assert distinct_bytes(one) == pytest.approx(distinct, rel=0.04)


def test_random_reads_touch_less_than_two_thirds_of_the_file() -> None:
    small = setting("random", read_size_bytes=4096)
    assert distinct_bytes(small) / (64 * MIB) == pytest.approx(0.632, abs=0.001)


def test_a_truncate_takes_half_and_leaves_half() -> None:
    one = setting("truncate", files=3, file_size_mib=5)
    assert size_argument_bytes(one) == length_after_bytes(one) == 5 * MIB // 2
    assert one.asked_bytes == 3 * (5 * MIB // 2)


def test_an_append_adds_what_is_there() -> None:
    one = setting("append", files=3)
    assert (one.asked_bytes, length_after_bytes(one)) == (3 * 64 * MIB, 128 * MIB)
    assert one.disk_use(replication=1)[1] == 2 * one.data_mib


def test_of_compressed_files_as_much_is_touched_as_is_stored() -> None:
    one = setting("read", compression="gzip")
    assert (distinct_bytes(one, 12345), one.asked_bytes) == (12345, 64 * MIB)
