"""Each kind of write of a study fails once, on a simulated cluster: a message, and records stay."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.security.lossless.each_write import OF_DISKS
from tests.security.lossless.simulated import kinds, recorded, rehearse
from tests.support.hostile.failing_writes import Writes, watched

pytestmark = pytest.mark.usefixtures("runtime")


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
    for number, words in OF_DISKS.items():
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
