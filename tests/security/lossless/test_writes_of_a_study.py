"""Each kind of write of a study fails once, on a simulated cluster: a message, and records stay."""

from __future__ import annotations

import errno
import hashlib
import re
import shutil
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.security.failing_writes import Writes, watched
from tests.security.lossless.each_write import run

pytestmark = pytest.mark.usefixtures("runtime")
SPEC = """
study: tiny
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1, 2]}
repetitions: 1
workloads:
  - ycsb: {records: [5000], mixes: [load, read45-insert55], threads: [2], duration: 60 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""
ERRORS = {errno.ENOSPC: "is full", errno.EROFS: "is read-only"}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "tiny.yaml").write_text(SPEC)
    return tmp_path / "tiny.yaml"


@pytest.fixture
def unanalysed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stages of the analysis have tests of their own."""
    import density_study.jobs.pipeline as pipeline

    monkeypatch.setattr(pipeline, "analyse", lambda _: None)


def rehearse(spec: Path, place: Path) -> int:
    return run("rehearse", spec, "--rehearsals", place, "--json")


def kinds(seen: list[str], place: Path) -> list[int]:
    """The first and the last write of each kind: of one name but for numbers, by one call."""
    found: dict[str, list[int]] = {}
    for at, write in enumerate(seen):
        kind = re.sub(r"[0-9a-f]{8}\.\d+|\d+", "#", write.replace(str(place), ""))
        found.setdefault(kind, []).append(at)
    return sorted({at for every in found.values() for at in (every[0], every[-1])})


def recorded(place: Path) -> dict[str, str]:
    """SHA-256 of each file of the closed records."""
    files = (path for path in place.glob("*/*/records/*/**/*") if path.is_file())
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if ".open" not in path.parts[-3]
    }


@pytest.mark.usefixtures("unanalysed")
@pytest.mark.timeout(0)  # the slow form takes minutes
@pytest.mark.parametrize(
    "every", [pytest.param(16, marks=pytest.mark.thorough), pytest.param(1, marks=pytest.mark.slow)]
)
def test_each_write_of_a_study(
    every: int, spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with watched(Writes(place)) as writes:
        assert rehearse(spec, place) == 0
    trials = {name for path in place.glob("*/*/records") for name in closed_records(path)}
    assert trials and len(writes.seen) > 40
    steps = kinds(writes.seen, place)
    for number, words in ERRORS.items():
        for first in steps[:: every if number == errno.ENOSPC else 3 * every]:
            shutil.rmtree(place)
            place.mkdir()
            capsys.readouterr()
            where = f"{errno.errorcode[number]} at {writes.seen[first]}"
            with watched(Writes(place, number, first, removals=number == errno.EROFS)):
                code = rehearse(spec, place)
            text = " ".join(capsys.readouterr().err.split())
            assert code == 1 and words in text, (where, text)
            assert "emedy:" in text and "Traceback" not in text, (where, text)
            before = recorded(place)
            for records in place.glob("*/*/records"):
                assert set(closed_records(records)) <= trials, where
            assert rehearse(spec, place) == 0, where
            assert before.items() <= recorded(place).items(), where
            newest = max(place.glob("*/*/records"))
            assert set(closed_records(newest)) == trials, where
