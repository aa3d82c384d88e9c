"""Bytes requested, processed and touched, compared with the tool's own loops step by step."""

from __future__ import annotations

import random
from typing import Any

import pytest

from density_study.workloads.testdfsio.job import (
    distinct_bytes,
    length_after_bytes,
    processed_bytes,
    size_argument_bytes,
)
from density_study.workloads.testdfsio.test_case import DfsioTestCase

MIB = 2**20


def case(mode: Any, **knobs: Any) -> DfsioTestCase:
    fixed = {"files": 1, "file_size_mib": 64, "read_size_bytes": MIB}
    return DfsioTestCase(mode=mode, **{**fixed, **knobs})


def read_by_the_tool(dfsio: DfsioTestCase, size_argument: int) -> tuple[int, int]:
    """(bytes processed, distinct bytes) of RandomReadMapper.doIO on one file, read by read."""
    length, read = dfsio.file_size_mib * MIB, dfsio.read_size_bytes
    skip = {"random": 0, "backward": -read}.get(dfsio.mode, dfsio.skip_size_bytes or read)
    draw = random.Random(5)

    def following(current: int) -> int:
        if skip == 0:
            return draw.randrange(length)
        if skip > 0:
            return 0 if current < 0 else current + read + skip
        return max(0, length - read) if current < 0 else max(0, current + skip)

    done, position, spans = 0, following(-1), []
    while done < size_argument:
        if position >= length:
            break
        got = min(read, length - position)
        spans.append((position, position + got))
        done, position = done + got, following(position)
    return done, _union(spans)


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
def test_a_skip_requests_exactly_what_its_reads_can_process(knobs: dict[str, int]) -> None:
    dfsio = case("skip", **knobs)
    requested = size_argument_bytes(dfsio)
    assert read_by_the_tool(dfsio, requested) == (requested, requested)
    assert dfsio.asked_bytes == distinct_bytes(dfsio) == requested
    # a larger request stops early at the same amount without a message
    assert read_by_the_tool(dfsio, requested + 10 * MIB)[0] == requested


def test_the_default_skip_reads_half() -> None:
    assert size_argument_bytes(case("skip")) == 32 * MIB


@pytest.mark.parametrize("read", (MIB, 1_000_000, 65536))
@pytest.mark.parametrize("mode", ("random", "backward"))
def test_positioned_reads_process_the_stated_amount(mode: str, read: int) -> None:
    dfsio = case(mode, read_size_bytes=read)
    done, distinct = read_by_the_tool(dfsio, size_argument_bytes(dfsio))
    least, most = processed_bytes(dfsio)
    assert least <= done <= most
    assert distinct_bytes(dfsio) == pytest.approx(distinct, rel=0.04)


def test_random_reads_touch_less_than_two_thirds_of_the_file() -> None:
    small = case("random", read_size_bytes=4096)
    assert distinct_bytes(small) / (64 * MIB) == pytest.approx(0.632, abs=0.001)


def test_a_truncate_removes_half_and_leaves_half() -> None:
    dfsio = case("truncate", files=3, file_size_mib=5)
    assert size_argument_bytes(dfsio) == length_after_bytes(dfsio) == 5 * MIB // 2
    assert dfsio.asked_bytes == 3 * (5 * MIB // 2)


def test_an_append_adds_the_existing_amount() -> None:
    dfsio = case("append", files=3)
    assert (dfsio.asked_bytes, length_after_bytes(dfsio)) == (3 * 64 * MIB, 128 * MIB)
    assert dfsio.disk_use(replication=1)[1] == 2 * dfsio.data_mib


def test_compressed_files_are_touched_by_their_stored_size() -> None:
    dfsio = case("read", compression="gzip")
    assert (distinct_bytes(dfsio, 12345), dfsio.asked_bytes) == (12345, 64 * MIB)
