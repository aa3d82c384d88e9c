"""What holds for every parser and every input: rows, or a ParseError, and every line accounted for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from density_study.workloads.base.parsing import Parsed, ParseError
from tests.property.mutations import Parser


def parsed(parse: Parser, data: bytes | str) -> Parsed[Any] | None:
    """The checked account; None for a refusal. Any other exception fails the test."""
    try:
        result = parse(data, "some/file")
    except ParseError as error:
        assert error.file == "some/file"
        assert error.reason
        return None
    check_account(result, data)
    return result


def check_account(result: Parsed[Any], data: bytes | str) -> None:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    count = raw.count(b"\n") + (not raw.endswith(b"\n") and raw != b"")
    assert result.parsed + result.skipped + len(result.quarantined) == count
    numbers = [q.line for q in result.quarantined]
    assert numbers == sorted(set(numbers))
    assert all(1 <= number <= count for number in numbers)
    assert all(q.reason and q.file == "some/file" for q in result.quarantined)
    assert (result.parsed == 0) == (not result.rows)
    lines = [row.line for row in result.rows if hasattr(row, "line")]
    assert lines == sorted(lines)
    assert not set(lines) & set(numbers)
    for value in numbers_in(result.rows):
        assert math.isfinite(value)
        assert 0 <= value < 2**63


def numbers_in(value: object) -> Iterator[float]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from numbers_in(item)
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from numbers_in(getattr(value, each.name))
