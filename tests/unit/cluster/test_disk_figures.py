"""Measured read rates of a disk, compared with its configured limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.machine.disk_type import read_rate
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import IoLimits
from density_study.cluster.providers.emulation import prove
from tests.support.topologies import local


def test_a_rate_is_reads_times_their_size(tmp_path: Path) -> None:
    rate = read_rate(tmp_path, 65536, 0.05)
    assert rate["iops"] > 0
    assert rate["mib_s"] == pytest.approx(rate["iops"] / 16)
    assert list(tmp_path.iterdir()) == []  # its file is removed


class Reads:
    """A transport to a disk with this number of reads per second."""

    def __init__(self, iops: float) -> None:
        self.iops = iops

    def act(self, node: object, name: str, folder: str, block: int, seconds: float) -> Any:
        assert name == "read-rate"
        return {"iops": self.iops, "mib_s": self.iops * block / 2**20, "seconds": seconds}


def test_a_limit_within_5_percent_is_reported_with_its_figures() -> None:
    figures = prove(Reads(104.0), local().master, "/d", IoLimits(read_iops=100))  # type: ignore[arg-type]
    assert figures["emulated"] is True
    assert figures["measured"]["read_iops"] == {"asked": 100, "seen": 104.0, "unit": "reads/s"}


@pytest.mark.parametrize("iops", [94.0, 106.0])
def test_a_limit_off_by_more_than_5_percent_is_refused_with_both_figures(iops: float) -> None:
    with pytest.raises(StudyError, match=rf"set to 100 reads/s, but {iops} reads/s was measured"):
        prove(Reads(iops), local().master, "/d", IoLimits(read_iops=100))  # type: ignore[arg-type]
