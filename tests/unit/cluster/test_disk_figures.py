"""Figures of a disk, by fio's answer or by our own reads; limits held against what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cluster.machine import disk_benchmark as module
from cluster.machine.disk_benchmark import disk_figures, fio_read, read_rate
from cluster.model.errors import StudyError
from cluster.model.host import IoLimits
from cluster.providers.emulation import prove
from tests.support.topologies import local


def test_our_own_reads_give_figures_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    found = disk_figures(tmp_path, 0.05)
    assert found.method == "O_DIRECT reads"
    assert min(found.random_4k_read_iops, found.random_1m_read_mib_s) > 0
    assert found.sequential_read_mib_s > 0
    assert list(tmp_path.iterdir()) == []


def test_a_rate_is_reads_by_their_size(tmp_path: Path) -> None:
    found = read_rate(tmp_path, 65536, 0.05)
    assert found.mib_s == pytest.approx(found.iops / 16)


def test_fio_is_read_or_refused() -> None:
    answer = {"jobs": [{"read": {"iops": 120.5, "bw_bytes": 2**20}}]}
    assert fio_read(answer) == {"iops": 120.5, "bw_bytes": 2**20}
    for broken in ({}, {"jobs": []}, {"jobs": [{"read": {"iops": None, "bw_bytes": 1}}]}):
        with pytest.raises(StudyError, match="unknown form"):
            fio_read(broken)


class Reads:
    """A transport to a disk that gives so many reads a second."""

    def __init__(self, iops: float) -> None:
        self.iops = iops

    def act(self, node: object, name: str, folder: str, block: int, seconds: float) -> Any:
        assert name == "read-rate"
        return {"iops": self.iops, "mib_s": self.iops * block / 2**20, "seconds": seconds}


def test_a_limit_within_5_percent_is_told_with_its_figures() -> None:
    told = prove(Reads(104.0), local().master, "/d", IoLimits(read_iops=100))  # type: ignore[arg-type]
    assert told["emulated"] is True
    assert told["measured"]["read_iops"] == {"asked": 100, "seen": 104.0, "unit": "reads/s"}


@pytest.mark.parametrize("iops", [94.0, 106.0])
def test_a_limit_over_5_percent_off_is_refused_with_both_figures(iops: float) -> None:
    with pytest.raises(StudyError, match=rf"100 reads/s was asked for, {iops} reads/s measured"):
        prove(Reads(iops), local().master, "/d", IoLimits(read_iops=100))  # type: ignore[arg-type]
