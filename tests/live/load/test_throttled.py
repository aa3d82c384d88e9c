"""On real daemons, a table settles that takes long within the limit of compactions, which is put back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(600)]

SPEC = Path(__file__).with_name("throttled.yaml")
LIMITED, LIMITED_S = "1.00 MB/second", 273
"""200,000 rows have 273 MiB."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("runs"), SPEC, timeout_s=500)


def test_the_table_settles_long_before_its_limit_would_let_it(run: Path) -> None:
    (only,) = closed_records(run / "records").values()
    assert (only.state, only.reasons) == ("complete", ())
    hbase = only.state_before["hbase"]
    assert {one["store_files"] for one in hbase["regions"]} == {1}
    (logs,) = run.glob("records/*/logs")
    began, ended = (
        (logs / f"{name}.out").stat().st_mtime for name in ("without-limit", "table-settled")
    )
    assert ended - began < LIMITED_S / 3, f"it settled within {ended - began:.0f} s"


def test_servers_log_that_the_limit_went_and_came_back(run: Path) -> None:
    log = next(run.rglob("regionserver-1.log")).read_text()
    found = re.findall(r"Compaction throughput configurations, higher bound: (\S+ \S+),", log)
    assert found[0] == found[-1] == LIMITED, found
    assert any(one != LIMITED for one in found), found
