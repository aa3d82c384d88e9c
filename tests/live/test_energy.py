"""Joules for each operation on real daemons, from the study file to the report, at a power that is known.

The kernel's counters are folders of this test, where the study and its monitors alone see them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.live.support.command import run_of, study
from tests.support.namespace import mounted
from tests.support.records.energy_counters import Counting, meter
from tests.support.repeating import repeating

pytestmark = pytest.mark.timeout(900)
SPEC = Path(__file__).parent / "support" / "energy.yaml"
PACKAGES_W = {"intel-rapl:0": ("package-0", 50.0), "intel-rapl:0:0": ("dram", 8.0),
              "intel-rapl:1": ("package-1", 33.0)}  # fmt: skip
PSYS_W = {"intel-rapl:2": ("psys", 140.0)}
HOST_W = 180.0
RANGE_UJ = 400_000_000
"""Eight seconds of the first package."""
WITHIN = 0.02


@contextmanager
def kernel_shows(classes: Path, kept: Path) -> Iterator[None]:
    """The folders of `classes` are /sys/class here, beside the kernel's own."""
    for own in Path("/sys/class").iterdir():
        if not (classes / own.name).exists():
            (classes / own.name).symlink_to(kept / "class" / own.name)
    with mounted({str(kept): Path("/sys"), "/sys/class": classes}):
        yield


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    if os.getuid() != 0:
        pytest.skip("energy was not tested: only root has mounts of its own")
    for name in ("powercap", "hwmon"):
        (tmp_path / "class" / name).mkdir(parents=True)
    return tmp_path / "class"


def test_a_host_without_counters_is_refused(classes: Path, tmp_path: Path) -> None:
    with kernel_shows(classes, tmp_path / "sys"):
        done = study("doctor", str(SPEC), runs=tmp_path / "runs")
    assert done.returncode != 0
    assert "has no energy" in done.stdout + done.stderr


def test_joules_of_an_operation_are_known_within_2_percent(classes: Path, tmp_path: Path) -> None:
    begun_s = time.time()
    joules = {
        folder: (name, lambda seconds, watts=watts: watts * seconds)
        for folder, (name, watts) in {**PACKAGES_W, **PSYS_W}.items()
    }
    counting = Counting(classes / "powercap", joules, RANGE_UJ)
    counting.at(0.0)
    meter(classes / "hwmon", HOST_W)
    with (
        repeating(lambda: counting.at(time.time() - begun_s), 0.05),
        kernel_shows(classes, tmp_path / "sys"),
    ):
        run = run_of(tmp_path / "runs", SPEC, timeout_s=800)
    summary = json.loads((run / "report" / "summary.json").read_text())
    trials = [one for one in summary["trials"] if one["verdict"] == "valid"]
    assert len(trials) == 2, [one["reasons"] for one in summary["trials"]]
    for trial in trials:
        value = {m["name"]: m["value"] for m in trial["metrics"] if not m["operation"]}
        watts = sum(one for _, one in PACKAGES_W.values())
        expected = watts / value["throughput"]
        assert value["energy_per_operation"] == pytest.approx(expected, rel=WITHIN)
        assert value["host_energy_per_operation"] == pytest.approx(
            HOST_W / value["throughput"], rel=WITHIN
        )
    assert "energy for each operation" in (run / "report" / "index.html").read_text()
