"""TestDFSIO's three rates of a real job, by our facts and by an independent reading of the same files
(method 13)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from density_study.workloads.record.record import read_manifest
from density_study.workloads.rows.record_rows import record_rows
from density_study.workloads.testdfsio.facts import facts
from tests.support.dfsio_rates import slow_rates
from tests.support.records.factory import RUN, RunFactory

SAMPLES = Path(__file__).parents[2] / "samples"
PART, HISTORY = (SAMPLES / f"TestDFSIO-3.4.2_write{end}" for end in ("_part-00000", ".jhist"))


def test_rates_of_the_real_sample_match_an_independent_reading(tmp_path: Path) -> None:
    factory = RunFactory(tmp_path / RUN)
    truth = factory.dfsio("b1-v1-flash", "write", files=4)
    root = factory.close()
    raw = root / "records" / truth.trial / "raw"
    shutil.copy(PART, raw / "io" / "part-00000")
    shutil.copy(HISTORY, raw / "history" / "job_1.jhist")
    rows = record_rows(read_manifest(raw.parent), raw.parent)
    rates = {one["name"]: one["value"] for one in facts(rows).metrics}
    slow = slow_rates([PART], HISTORY)
    for name, value in vars(slow).items():
        assert rates[name] == pytest.approx(value, rel=0.001), name
    assert slow.throughput_per_stream > slow.throughput_map_phase / slow.concurrent_maps
    assert slow.throughput_map_phase > slow.throughput_job  # includes YARN's start-up
