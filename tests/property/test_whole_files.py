"""Files read in batches equal the pure parsers' results for each, whatever their neighbours
contain.

`HYPOTHESIS_PROFILE=deep` makes 100,000 mutated inputs of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest

from density_study.workloads.rows.file_tables import BULK, by_rows, tables_of
from density_study.workloads.rows.raw.raw_files import RawFile, content
from tests.property.mutations import mutate
from tests.property.support.bulk_files import (
    BEGIN_S,
    FACTS,
    anew,
    bases,
    dool_text,
    nodecpu_text,
    rows_of,
)
from tests.property.support.quarters import QUARTERS, quarter_of

MUTATED = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 1_200
FORMS = ("0", "00", "007", "1.", ".5", ".", "1..5", "1.2.3", "1.5.", "0.1", "-0", "-1", "+1", "1e2",
         "1E-2", "inf", "nan", "0x1F", "1_0", "1,5")  # fmt: skip
BLANKS = ("", " 1", "1 ", "\t1", "1\r", "1\v", "\x001", "\u0661", '"1"')
BOUNDS = ("9007199254740991", "9007199254740992", "9007199254740991.5", "4194304", "4194305",
          "123456789012345678", "1234567890123456789", "9223372036854775807",
          "9223372036854775808")  # fmt: skip
LONG = ("9" * 400, "0" * 40 + "1", "0." + "0" * 350 + "1", "0" * 18 + "1", "0" * 19 + "1",
        "1" * 131_072, "0" * 131_073 + "1")  # fmt: skip
"""The csv module refuses a cell of 131,072 characters."""
ODD_NUMBERS = (*FORMS, *BLANKS, *BOUNDS, *LONG)


def files_of(kind: str, contents: Sequence[bytes], folder: Path) -> list[RawFile]:
    files = []
    for number, data in enumerate(contents):
        path = folder / f"{number}.csv"
        anew(path, data)
        trial, host = f"t{number // 2}", f"h{number % 2}"
        file = RawFile(
            trial, kind, host, f"monitor/{number}", str(path), "", len(data), facts=FACTS
        )
        files.append(file)
    return files


def same(kind: str, contents: Sequence[bytes], folder: Path) -> None:
    files = files_of(kind, contents, folder)
    alone = (piece for file in files for piece in by_rows(file))
    assert rows_of(tables_of(files)) == rows_of(alone)


def same_alone_and_together(kind: str, contents: Sequence[bytes], folder: Path) -> None:
    """Each file alone, and all together: the pure parser reads each once."""
    files = files_of(kind, contents, folder)
    alone = [list(by_rows(file)) for file in files]
    for file, pieces in zip(files, alone, strict=True):
        assert rows_of(tables_of([file])) == rows_of(pieces)
    assert rows_of(tables_of(files)) == rows_of(chain.from_iterable(alone))


def plain(kind: str) -> list[bytes]:
    """Several lengths, and times that do not overlap."""
    if kind == "dool":
        return [dool_text(n, BEGIN_S + 1000.0 * n).encode() for n in (1, 2, 9, 30)]
    return [nodecpu_text(n).encode() for n in (1, 2, 9, 30)]


@pytest.mark.parametrize("kind", BULK)
def test_plain_files_are_read_together(kind: str, tmp_path: Path) -> None:
    """Otherwise the tests below would compare the pure parser with itself."""
    contents = plain(kind)
    same(kind, contents, tmp_path)
    files = files_of(kind, contents, tmp_path)
    rows, done = BULK[kind][1]([(file, content(file)) for file in files])
    assert done == set(files) and len(rows) == 1
    contents[1] += b"nothing that is a row\n"
    files = files_of(kind, contents, tmp_path)
    _, done = BULK[kind][1]([(file, content(file)) for file in files])
    assert files[1] not in done
    same(kind, contents, tmp_path)


@pytest.mark.parametrize("kind", BULK)
def test_a_file_with_an_invalid_row_does_not_affect_others(kind: str, tmp_path: Path) -> None:
    """Cells with the right number and kind, and impossible values."""
    contents = plain(kind)
    lines = contents[2].split(b"\n")
    lines[-2] = lines[-3]
    contents[2] = b"\n".join(lines)
    files = files_of(kind, contents, tmp_path)
    _, done = BULK[kind][1]([(file, content(file)) for file in files])
    assert set(files) - done == {files[2]}
    same(kind, contents, tmp_path)


@pytest.mark.parametrize("kind", BULK)
def test_files_without_rows_or_bytes_are_read(kind: str, tmp_path: Path) -> None:
    whole = plain(kind)[2]
    heads = [whole[:end] for end in range(0, 700, 7)]
    same(kind, [*heads, b"", b"\n", b"\n\n", b"\xef\xbb\xbf" + whole], tmp_path)
    same(kind, [whole.replace(b"\n", b"\r\n"), whole.replace(b"\n", b"\r"), whole[:-1]], tmp_path)


@pytest.mark.thorough
@QUARTERS
@pytest.mark.parametrize("kind", BULK)
def test_every_mutated_batch(kind: str, quarter: int, tmp_path: Path) -> None:
    """Seeded: a failure is reproducible, and shows its number."""
    samples = [*plain(kind), *(data for of, data in bases() if of == kind)]
    for number in quarter_of(MUTATED // 6, quarter):
        rng = random.Random(number)
        contents = rng.choices(samples, k=rng.randint(1, 4))
        spoilt = [
            mutate(c, rng.choice(samples), rng) if rng.random() < 0.6 else c for c in contents
        ]
        try:
            same(kind, spoilt, tmp_path)
        except BaseException as error:
            error.add_note(f"batch {number} of {kind}: {spoilt!r:.3000}")
            raise


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("kind", BULK)
def test_every_odd_number_in_every_cell(kind: str, tmp_path: Path) -> None:
    lines = plain(kind)[2].split(b"\n")
    at = len(lines) - 4
    cells = lines[at].split(b",")
    for place in range(len(cells)):
        contents = []
        for odd in ODD_NUMBERS:
            spoilt = [*cells[:place], odd.encode(), *cells[place + 1 :]]
            contents.append(b"\n".join([*lines[:at], b",".join(spoilt), *lines[at + 1 :]]))
        same_alone_and_together(kind, contents, tmp_path)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("kind", BULK)
def test_every_byte_at_every_place_of_a_row(kind: str, tmp_path: Path) -> None:
    """Replaces a byte of the last row but one by each other byte, and inserts each before it."""
    data = plain(kind)[1]
    end = data.rindex(b"\n", 0, -1)
    begin = data.rindex(b"\n", 0, end)
    step = 1 if MUTATED > 10_000 else 43
    for place in range(begin, end + 1):
        for byte in range(place % step, 256, step):
            inserted = bytes([byte])
            same(kind, [data[:place] + inserted + data[place + 1 :]], tmp_path)
            same(kind, [data[:place] + inserted + data[place:]], tmp_path)


def test_numbers_are_exact_to_the_last_bit(tmp_path: Path) -> None:
    """Equal to Python's own result for any digits; most lie half-way between two floats."""
    rng = random.Random(1)
    lines = dool_text(3000).split("\n")
    for at in range(6, len(lines) - 1):
        lines[at] = lines[at].rpartition(",")[0] + "," + half_way(rng)
    data = "\n".join(lines).encode()
    same("dool", [data], tmp_path)
    files = files_of("dool", [data], tmp_path)
    _, done = BULK["dool"][1]([(file, content(file)) for file in files])
    assert done == set(files)


def half_way(rng: random.Random) -> str:
    """Between two floats below 2**53, or slightly beside it, or any number with as many digits."""
    points = rng.randint(1, 60)
    odd = 2 * (rng.getrandbits(52) | 1 << 52) + 1
    digits = str(odd * 5**points // 2 ** rng.randint(0, 1)).rjust(points + 1, "0")
    text = f"{digits[:-points]}.{digits[-points:]}"
    if float(text) >= 2**53:
        text = text[-points - 10 :]
    return text + rng.choice(("", "0" * 30, "1", "0" * 30 + "1"))
