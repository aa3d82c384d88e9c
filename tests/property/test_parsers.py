"""Properties of every parser for any input.

`HYPOTHESIS_PROFILE=deep pytest tests/property/test_parsers.py` runs 100,000 mutated inputs and cuts
every sample at every byte; the default runs a few thousand in seconds.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from density_study.workloads.monitors.sar import parse_sar
from density_study.workloads.terasort.validation import parse_validation
from density_study.workloads.testdfsio.output.history import parse_history
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.ycsb.output.status import parse_status
from tests.property.mutations import PARSERS, Parser, Sample, mutate, samples
from tests.property.support.accounts import numbers_in, parsed
from tests.property.support.quarters import QUARTERS, quarter_of

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
MUTATED = 100_000 if DEEP else 3_000
ALL = samples()
CHECKED = settings(
    max_examples=5_000 if DEEP else 60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("sample", ALL, ids=repr)
def test_unmodified_samples_are_parsed(sample: Sample) -> None:
    result = parsed(sample.parse, sample.data)
    assert result is not None
    assert result.rows or result.quarantined or "header_only" in sample.name


@QUARTERS
def test_mutated_samples_give_rows_or_a_parse_error(quarter: int) -> None:
    """Seeded: a failure is reproducible, and shows its number."""
    for number in quarter_of(MUTATED, quarter):
        rng = random.Random(number)
        sample, other = rng.choice(ALL), rng.choice(ALL)
        data = mutate(sample.data, other.data, rng)
        try:
            parsed(sample.parse, data)
        except BaseException as error:
            error.add_note(f"mutation {number} of {sample!r}: {data!r:.2000}")
            raise


@CHECKED
@given(parse=st.sampled_from(PARSERS), data=st.binary(max_size=300) | st.text(max_size=300))
def test_any_bytes_and_any_text_are_accounted_for(parse: Parser, data: bytes | str) -> None:
    parsed(parse, data)


_PIECE = st.sampled_from(
    sorted({line for sample in ALL for line in sample.data.split(b"\n")[:40] if len(line) < 400})
)


@CHECKED
@given(
    parse=st.sampled_from(PARSERS),
    lines=st.lists(_PIECE | st.binary(max_size=20), max_size=30),
    end=st.sampled_from([b"", b"\n", b"\r\n"]),
)
def test_lines_of_all_kinds_in_any_order(parse: Parser, lines: list[bytes], end: bytes) -> None:
    parsed(parse, b"\n".join(lines) + end)


def cuts(sample: Sample) -> Iterator[int]:
    size = len(sample.data)
    if DEEP:
        return iter(range(size))
    return iter(sorted(random.Random(size).sample(range(size), min(size, 40))))


@pytest.mark.parametrize("sample", [s for s in ALL if s.parse is not parse_sar], ids=repr)
def test_a_truncated_file_gives_a_prefix_of_its_rows(sample: Sample) -> None:
    """Truncation never gives another number: 1067 cut to 106 must not be read. For sar, whose rows have
    parts at several places of the file, see test_sar.py."""
    whole = sample.parse(sample.data, "some/file").rows
    for cut in cuts(sample):
        result = parsed(sample.parse, sample.data[:cut])
        if result is None:
            continue
        if sample.parse is parse_history:
            assert all(job.problems for job in result.rows if job not in whole), cut
        else:
            assert result.rows == whole[: len(result.rows)], cut


def _lines_with_numbers(sample: Sample) -> list[tuple[bytes, int, int]]:
    """(file with `@` for one number, its line, number of rows of the sample)."""
    templates = []
    lines = sample.data.split(b"\n")
    for row in sample.parse(sample.data, "f").rows[:: max(1, len(sample.data) // 1500)]:
        line = lines[row.line - 1]
        for at in range(len(line)):
            inside = at and line[at - 1 : at] in b"0123456789."
            if line[at : at + 1].isdigit() and not inside:
                end = at
                while line[end : end + 1] in b"0123456789." and end < len(line):
                    end += 1
                tagged = [*lines]
                tagged[row.line - 1] = line[:at] + b"\x01" + line[end:]
                templates.append((b"\n".join(tagged), row.line, end - at))
    return templates


@pytest.mark.parametrize(
    "sample",  # a checksum is hexadecimal, so "1e999" is a valid part of it
    [s for s in ALL if s.parse not in (parse_history, parse_io_part, parse_validation)],
    ids=repr,
)
@pytest.mark.parametrize("text", [b"1234,5", b"NaN", "∞".encode(), b"-5", b"1e999", b"9" * 40])
def test_an_invalid_number_is_never_read(sample: Sample, text: bytes) -> None:
    """Replaces any number of any row: the row disappears, or keeps its values (the number was in a
    text or in an unused column); no other row changes."""
    whole = {row.line: row for row in sample.parse(sample.data, "f").rows}
    choices = _lines_with_numbers(sample)
    rng = random.Random(len(sample.data))
    if sample.parse is parse_status and text == b"1234,5":
        pytest.skip("a mean of a client whose locale has decimal commas")
    for data, line, _ in choices if DEEP else rng.sample(choices, min(5, len(choices))):
        result = parsed(sample.parse, data.replace(b"\x01", text))
        for row in result.rows if result else ():
            if row.line == line:
                assert same_numbers(sample, row, whole[line]), (row, whole[line])


def same_numbers(sample: Sample, row: Any, was: Any) -> bool:
    now, before = list(numbers_in(row)), list(numbers_in(was))
    if sample.parse is parse_status:  # a rate that is not finite is unknown
        return row.current_ops_s is None or now == before
    return now == before or now == [n for n in before if n in now]


@pytest.mark.parametrize("sample", ALL, ids=repr)
def test_bytes_and_text_give_the_same_rows(sample: Sample) -> None:
    assert sample.parse(sample.data, "f") == sample.parse(sample.data.decode(), "f")


@pytest.mark.parametrize("sample", ALL, ids=repr)
def test_windows_line_ends_change_nothing(sample: Sample) -> None:
    assert sample.parse(sample.data.replace(b"\n", b"\r\n"), "f").rows == (
        sample.parse(sample.data, "f").rows
    )
