"""The variant store on a real HBase: loaded, its regions scanned, its samples read, all as
written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from density_study.workloads.ycsb.faults import faults_of_all
from density_study.workloads.ycsb.mixes import Mix
from density_study.workloads.ycsb.output.interval_log import IntervalRow, parse_hdr
from density_study.workloads.ycsb.output.summary import operation_counts, overall, parse_summary
from density_study.workloads.ycsb.properties import client_arguments, client_name, table_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.variant_store import STORED_ROW_MIB, VariantStore
from tests.live.support.java_client import YCSB
from tests.live.support.standalone import StandaloneHBase, hbase

__all__ = ["hbase"]  # a fixture

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(300)]

STORE = VariantStore(samples=24, sites=1000, regions=200, region_sites=6, seed=7)
REGIONS = 8
THREADS = 4


def case(mix: Mix, clients: int = 1, duration_s: float | None = 12.0) -> YcsbTestCase:
    return YcsbTestCase(mix=mix, records=STORE.rows, threads=THREADS, clients=clients,
                       duration_s=None if mix == "variant-load" else duration_s, variants=STORE)  # fmt: skip


TABLE = table_of(case("variant-load"))
CREATE = f"create --table {TABLE} --family f --regions {REGIONS} --variants {STORE.splits}"


def run(hbase: StandaloneHBase, folder: Path, spec: YcsbTestCase) -> dict[str, int]:
    """Runs all clients at once to their exit; operation -> number of successes."""
    clients = [_start(hbase, folder, spec, number) for number in range(1, spec.clients + 1)]
    assert [client.wait(timeout=120) for client in clients] == [0] * spec.clients
    total: dict[str, int] = {}
    for number in range(1, spec.clients + 1):
        path = folder / f"{client_name(number)}.out"
        rows = parse_summary(path.read_bytes(), "out").rows
        counts = operation_counts(rows)
        whole = overall(rows)
        assert whole is not None
        done = sum(count.ok + count.failed for name, count in counts.items() if name != "VERIFY")
        assert whole.throughput_ops_s * whole.runtime_ms / 1000 == pytest.approx(done, rel=0.01)
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count.ok
    return total


def _start(
    hbase: StandaloneHBase, folder: Path, spec: YcsbTestCase, number: int
) -> subprocess.Popen[bytes]:
    name = client_name(number)
    out, err = (folder / f"{name}.{suffix}" for suffix in ("out", "err"))
    with out.open("wb") as stdout, err.open("wb") as stderr:
        words = client_arguments(spec, f"{folder}/{name}-", number)
        return subprocess.Popen(hbase.client_argv(YCSB, *words), stdout=stdout, stderr=stderr)


@pytest.fixture(scope="module")
def loaded(hbase: StandaloneHBase, tmp_path_factory: pytest.TempPathFactory) -> StandaloneHBase:
    folder = tmp_path_factory.mktemp("load")
    hbase.tool(CREATE)
    assert run(hbase, folder, case("variant-load", clients=2)) == {"INSERT": STORE.rows}
    assert faults_of_all(folder, case("variant-load", clients=2)) == ()
    return hbase


def test_every_row_is_present_once_and_regions_share_them_evenly(loaded: StandaloneHBase) -> None:
    answer = loaded.tool(f"count --table {TABLE} + flush-compact-settle --table {TABLE} + state "
                         f"--table {TABLE}")  # fmt: skip
    assert answer["count"]["rows"] == STORE.rows
    writes = [region["write_requests"] for region in answer["state"]["regions"]]
    assert len(writes) == REGIONS
    assert max(writes) <= 1.02 * STORE.rows / REGIONS
    stored_mib = _stored_mib(loaded)
    assert stored_mib == pytest.approx(STORE.rows * STORED_ROW_MIB, rel=0.25)


def _stored_mib(hbase: StandaloneHBase) -> float:
    """Bytes of each region's compacted store file, the largest: its inputs stay for some minutes.
    TableTool reports only whole MiB."""
    regions = (hbase.root / "data" / "data" / "default" / TABLE).glob("*/f")
    return sum(max(file.stat().st_size for file in region.iterdir()) for region in regions) / 2**20


@pytest.mark.parametrize(
    ("mix", "kinds"),
    [("region-scan", {"SCAN"}), ("sample-read", {"READ"}), ("cohort-query", {"SCAN", "READ"})],
)
def test_queries_return_the_written_rows_and_littles_law_closes(
    loaded: StandaloneHBase, tmp_path: Path, mix: Mix, kinds: set[str]
) -> None:
    spec = case(mix)
    done = run(loaded, tmp_path, spec)
    assert faults_of_all(tmp_path, spec) == ()
    assert set(done) == kinds and sum(done.values()) > 200
    assert _threads_found(tmp_path, kinds) == pytest.approx(THREADS, rel=0.02)


def _threads_found(folder: Path, kinds: set[str]) -> float:
    """X (R + Z) of the middle of the run, by a plain loop over the logs."""
    total = 0.0
    for kind in (*kinds, "THINK"):
        rows = _intervals(folder / f"ycsb-1-{kind}.hdr")[4:-1]
        busy_us = sum(
            (value + 0.5) * count for row in rows for value, count in row.histogram().counts
        )
        total += busy_us / 1e6 / sum(row.length_s for row in rows)
    return total


def _intervals(path: Path) -> tuple[IntervalRow, ...]:
    parsed = parse_hdr(path.read_bytes(), path.name)
    assert not parsed.quarantined and len(parsed.rows) > 8
    return tuple(parsed.rows)


def test_a_store_without_a_site_is_a_fault(loaded: StandaloneHBase, tmp_path: Path) -> None:
    """The failure of the tests above if rows were missing."""
    spec = case("region-scan", duration_s=6.0)
    loaded.tool(f"drop --table {TABLE} + {CREATE}")
    run(loaded, tmp_path, spec)
    (fault,) = faults_of_all(tmp_path, spec)
    assert "VERIFY failed (UNEXPECTED_STATE" in fault
