"""Damaged files of other people end in a reading or in one clear error; nothing raises anything else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.points import read_points
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.traces.profiled import profile_of
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.describe import file_rows
from density_study.workloads.imports.draft_map import draft_map
from density_study.workloads.imports.recognise import recognise

WILD = Path(__file__).parents[1] / "samples" / "wild"
FILES = sorted(path.relative_to(WILD).as_posix() for path in WILD.glob("*/*"))
CELLS = (
    b"-", b"", b"0", b"-1", b"1e400", b"nan", b"inf", b"9" * 400, b"1,5", b"1.878", b"NULL", b"\x00",
    b"\xff\xfe",
    b"0ms", b"0%", b"\xe2\x88\x9e", b"(", b"[" * 50, b'"', b"\t", b";", b"\r", b"\x1b[31m",
)  # fmt: skip
MOST_BYTES = 8_000


def mutated(data: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(7)
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    if kind == 0:
        return data[: rng.randrange(len(data) + 1)]
    if kind == 1:
        del lines[at]
    elif kind == 2:
        lines.insert(at, rng.choice(lines))
    elif kind == 3:
        rng.shuffle(lines)
    elif kind == 4:
        lines[at] = rng.choice(CELLS) + lines[at]
    elif kind == 5:
        place = rng.randrange(len(data) + 1)
        return data[:place] + bytes(rng.randrange(256) for _ in range(4)) + data[place + 4 :]
    else:
        for mark in (b"\t", b";", b",", b" "):
            cells = lines[at].split(mark)
            if len(cells) > 2:
                cells[rng.randrange(len(cells))] = rng.choice(CELLS)
                lines[at] = mark.join(cells)
                break
    return b"\n".join(lines)


def outcome(path: Path, kind: str) -> str:
    try:
        if kind == "traces":
            profile = profile_of(read_traces([path]), 1, "x", "x")
            again = Profile.model_validate(profile.model_dump(mode="json"))
            assert again == profile
        elif kind == "points":
            read_points(path)
        else:
            found = recognise(path.parent, path.name)
            list(file_rows({path.name: found}))
            draft_map("x", {path.name: found})
    except InputError as error:
        assert error.what and error.remedy and error.where and "Traceback" not in error.what
        return "refused"
    return "read"


def tried(file: str, count: int, folder: Path) -> None:
    rng = random.Random(file)
    data = (WILD / file).read_bytes()[:MOST_BYTES]
    for _ in range(count):
        path = folder / "f"
        path.write_bytes(mutated(data, rng))
        try:
            outcome(path, file.partition("/")[0])
        except Exception as error:
            error.add_note(f"{file}: {path.read_bytes()!r:.2000}")
            raise


@pytest.mark.parametrize("file", FILES)
def test_no_damage_ends_in_a_traceback(file: str, tmp_path: Path) -> None:
    tried(file, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_much_damage_ends_in_no_traceback(file: str, tmp_path: Path) -> None:
    tried(file, 1000, tmp_path)
