"""A store whose rows are written once: ranges of files in HDFS, which trials read at a rate."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.store import store_named
from density_study.cluster.stores.store import render, store_of
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.ycsb.stores import store_tool as module
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.topologies import blueprint, local, with_variant

STUDY = """
study: s
store: hdfs-files
hosts: [{{name: here, memory: 6 GiB, roles: [master, worker, client]}}]
factors: {{vms_per_host: [2]}}
repetitions: 1
workloads:
- ycsb: {{records: [1000], mixes: {mixes}, threads: [8], latency_at: [50/s], row: {row}}}
"""
ROW = "{fields: 1, field_length: 64 KiB}"
PLACED = with_variant(local(2, servers=0), store=store_named("hdfs-files"))


def ids(folder: Path, mixes: str, row: str = ROW) -> list[str]:
    (folder / "s.yaml").write_text(STUDY.format(mixes=mixes, row=row))
    plan = plan_study(folder / "s.yaml", runs=folder / "runs").plan
    assert list(plan.topologies) == ["v2-flash-hdfs-files-page-cache"]
    return sorted(step.test_case.id for step in plan.trials if step.test_case)


def test_reads_and_scans_of_ranges_run_at_full_speed_and_at_a_rate(tmp_path: Path) -> None:
    assert ids(tmp_path, "[c, {name: runs, scan: 1.0}]") == [
        "ycsb-c-r1000-t8-f1x65536", "ycsb-c-r1000-t8-f1x65536-at50ps",
        "ycsb-runs-r1000-t8-f1x65536", "ycsb-runs-r1000-t8-f1x65536-at50ps",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mixes", "row", "message"),
    [
        ("[load, c]", ROW, "replace mix load by c"),
        ("[b]", ROW, "HDFS files are only read"),
        ("[{name: own, scan: 0.5, insert: 0.5}]", ROW, "HDFS files are only read"),
        ("[c]", "{fields: 1, shortest_field: 1 KiB, field_length: 2 KiB}", "have one length"),
    ],
)
def test_what_changes_a_file_is_refused(tmp_path: Path, mixes: str, row: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ids(tmp_path, mixes, row)


def test_clients_read_below_the_clusters_namenode() -> None:
    rendered = render(blueprint(PLACED))
    cluster: Any = SimpleNamespace(
        site=Site(Path("/b"), "s/r/b"), topology=PLACED, built=PLACED, endpoints=rendered.endpoints
    )
    namenode = rendered.endpoints.one("namenode.rpc")
    assert binding_of(cluster).properties == {
        "hdfs.folder": f"hdfs://{namenode}/ycsb",
        "insertorder": "ordered",
    }


def test_its_servers_are_the_datanodes_which_the_namenode_counts() -> None:
    rendered = render(blueprint(PLACED))
    servers = rendered.endpoints.all("store")
    assert set(servers) == {"w1/datanode", "w2/datanode"}
    assert {f"{one.node}/{one.name}" for one in rendered.daemons} >= set(servers)
    names = [service.name for service in store_of(PLACED).readiness(PLACED, rendered.endpoints)]
    assert names == ["hdfs", "yarn"]
    assert not [one for one in rendered.daemons if one.name in ("hmaster", "regionserver")]


@pytest.mark.parametrize(("rows", "loads"), [(1000, 0), (0, 1), (999, 1)])
def test_rows_that_nothing_changes_are_loaded_once_for_a_build(
    monkeypatch: pytest.MonkeyPatch, rows: int, loads: int
) -> None:
    """And never read before every block has its replicas: the rows of the warm-up were."""
    there, done, last = [rows], list[str](), list[str]()

    def tool(_: Any, __: Any, ___: str, *commands: str) -> dict[str, Any]:
        last[:] = commands
        if "empty" in commands:
            there[0] = 0
        return {"rows": there[0]}

    def load() -> None:
        done.append("load")
        there[0] = 1000

    monkeypatch.setattr(module, "store_tool", tool)
    context: Any = SimpleNamespace(cluster=SimpleNamespace(topology=PLACED))
    test_case = YcsbTestCase(mix="c", records=1000, threads=4, duration_s=10.0)
    assert module.rows_loaded(context, test_case, load)["rows"] == 1000
    assert len(done) == loads and last == ["settle", "state"]


def test_a_table_of_many_gib_has_the_time_to_settle_and_to_be_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three replicas on two workers, which compact 5 MiB/s each; 10,000 rows/s are counted."""
    limits_s = list[float]()

    def run(_: Any, __: Any, limit_s: float, **___: Any) -> None:
        limits_s.append(limit_s)
        raise StudyError("enough", "", "")

    monkeypatch.setattr(module, "store_command", lambda *_, **__: None)
    monkeypatch.setattr(module, "run_client", run)
    context: Any = SimpleNamespace(cluster=SimpleNamespace(topology=PLACED))
    for rows in (1000, 1_000_000_000):
        test_case = YcsbTestCase(mix="c", records=rows, threads=4, duration_s=10.0)
        with pytest.raises(StudyError, match="enough"):
            module.store_tool(context, test_case, "store-before", "settle", "state")
        data_mib = test_case.data_mib
        assert limits_s[-1] >= 600 + 3 * data_mib / 2 / 5 + rows / 10_000
    assert 600 <= limits_s[0] < 610
