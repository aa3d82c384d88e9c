"""Every mix, with the properties from a study, on a real HBase; and several clients at once."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from density_study.workloads.ycsb.faults import faults_of_all
from density_study.workloads.ycsb.mixes import MIXES, CoreMix, Mix
from density_study.workloads.ycsb.output.summary import operation_counts, parse_summary
from density_study.workloads.ycsb.properties import client_arguments, client_name, table_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.support.java_client import YCSB
from tests.live.support.standalone import StandaloneHBase, hbase

__all__ = ["hbase"]  # a fixture

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

RECORDS = 5_000
OPERATIONS = 1_500
CLIENTS = 3
REGIONS = 20
KINDS = {"read": "READ", "update": "UPDATE", "insert": "INSERT", "scan": "SCAN",
         "readmodifywrite": "READ-MODIFY-WRITE"}  # fmt: skip


def case(mix: Mix, clients: int = 1) -> YcsbTestCase:
    timed = None if mix == "load" else 60.0
    return YcsbTestCase(mix=mix, records=RECORDS, threads=4, clients=clients, duration_s=timed,
                       max_scan_length=50)  # fmt: skip


TABLE = table_of(case("load"))


def run(
    hbase: StandaloneHBase, folder: Path, spec: YcsbTestCase, more: Sequence[str] = ()
) -> dict[str, int]:
    """Runs all clients of a test case at once, without a fault; operation -> number of successes."""
    clients = [_start(hbase, folder, spec, number, more) for number in range(1, spec.clients + 1)]
    assert [client.wait(timeout=100) for client in clients] == [0] * spec.clients
    assert faults_of_all(folder, spec) == ()
    total: dict[str, int] = {}
    for number in range(1, spec.clients + 1):
        path = folder / f"{client_name(number)}.out"
        for name, count in operation_counts(parse_summary(path.read_bytes(), "out").rows).items():
            total[name] = total.get(name, 0) + count.ok
    return total


def _start(
    hbase: StandaloneHBase, folder: Path, spec: YcsbTestCase, number: int, more: Sequence[str]
) -> subprocess.Popen[bytes]:
    name = client_name(number)
    (folder / f"{name}-go").write_text("0\n")  # the common start has passed
    words = client_arguments(spec, f"{folder}/{name}-", number)
    if spec.mix != "load":
        words = (*words, "-p", f"operationcount={OPERATIONS}")
    out, err = (folder / f"{name}.{suffix}" for suffix in ("out", "err"))
    with out.open("wb") as stdout, err.open("wb") as stderr:
        argv = hbase.client_argv(YCSB, *words, *more)
        return subprocess.Popen(argv, stdout=stdout, stderr=stderr)


@pytest.fixture(scope="module")
def loaded(hbase: StandaloneHBase, tmp_path_factory: pytest.TempPathFactory) -> StandaloneHBase:
    """The table of RECORDS rows, by three clients; saved as the snapshot `full`."""
    folder = tmp_path_factory.mktemp("load")
    hbase.tool(f"create --table {TABLE} --family f --regions {REGIONS}")
    assert run(hbase, folder, case("load", CLIENTS)) == {"INSERT": RECORDS}
    hbase.tool(f"flush-compact-settle --table {TABLE} + snapshot full --table {TABLE}")
    return hbase


def rows(hbase: StandaloneHBase) -> int:
    return int(hbase.tool(f"count --table {TABLE}")["count"]["rows"])


def restore(hbase: StandaloneHBase) -> None:
    hbase.tool(f"restore full --table {TABLE}")


def test_a_load_by_several_clients_leaves_every_row_once(loaded: StandaloneHBase) -> None:
    assert rows(loaded) == RECORDS


@pytest.mark.parametrize("mix", [mix for mix in get_args(CoreMix) if mix != "load"])
def test_a_mix_follows_its_proportions_and_finds_every_row(
    loaded: StandaloneHBase, tmp_path: Path, mix: Mix
) -> None:
    done = run(loaded, tmp_path, case(mix))
    shares = {KINDS[kind]: share for kind, share in MIXES[mix].shares.items() if share > 0}
    both = shares.pop("READ-MODIFY-WRITE", 0.0)
    if both:  # returns are counted for its read and its update, but not for the whole
        shares |= {"READ": shares["READ"] + both, "UPDATE": both}
        summary = parse_summary((tmp_path / "ycsb-1.out").read_bytes(), "out").rows
        timed = {row.name: row.value for row in summary if row.measure == "Operations"}
        assert timed["READ-MODIFY-WRITE"] == done["UPDATE"]
    assert set(done) == set(shares)
    for operation, share in shares.items():
        spread = 5 * math.sqrt(OPERATIONS * share * max(1 - share, 0))
        assert abs(done[operation] - share * OPERATIONS) <= spread, done


def test_concurrent_clients_insert_distinct_rows(loaded: StandaloneHBase, tmp_path: Path) -> None:
    restore(loaded)
    done = run(loaded, tmp_path, case("read45-insert55", CLIENTS))
    assert done["INSERT"] > 0.4 * CLIENTS * OPERATIONS
    assert rows(loaded) == RECORDS + done["INSERT"]


def test_with_ycsbs_own_workload_clients_overwrite_each_other(
    loaded: StandaloneHBase, tmp_path: Path
) -> None:
    """Shows that the test above can fail."""
    restore(loaded)
    plain = ("-p", "workload=site.ycsb.workloads.CoreWorkload")
    done = run(loaded, tmp_path, case("read45-insert55", CLIENTS), plain)
    assert rows(loaded) < RECORDS + 0.5 * done["INSERT"]


@pytest.mark.parametrize("mix", ["d", "e"])
def test_concurrent_clients_find_every_requested_row(
    loaded: StandaloneHBase, tmp_path: Path, mix: Mix
) -> None:
    restore(loaded)
    assert sum(run(loaded, tmp_path, case(mix, CLIENTS)).values()) == CLIENTS * OPERATIONS


def test_measured_requests_are_even_over_the_regions(
    loaded: StandaloneHBase, tmp_path: Path
) -> None:
    restore(loaded)
    before = _reads(loaded, TABLE)
    words = ("-p", "requestdistribution=uniform", "-p", "operationcount=8000")
    done = run(loaded, tmp_path, case("c"), words)
    reads = [after - before[start] for start, after in _reads(loaded, TABLE).items()]
    assert len(reads) == REGIONS
    assert sum(reads) >= done["READ"] == 8000
    even = sum(reads) / REGIONS  # with 250 rows and 400 reads each, chance alone gives some 8 %
    assert min(reads) > 0.65 * even and max(reads) < 1.35 * even, reads


def _reads(hbase: StandaloneHBase, table: str) -> dict[str, int]:
    """Read requests so far by region, by its start key."""
    state = hbase.tool(f"state --table {table}")["state"]
    return {region["start_key"]: region["read_requests"] for region in state["regions"]}
