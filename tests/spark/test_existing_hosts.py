"""Existing clusters, analysed: their CPU is that of the watched hosts, and never that of the client's
host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from density_study.analysis.report.page import render
from density_study.analysis.summarise.summarise import summarise
from density_study.jobs.first_look.look import first_look
from density_study.jobs.pipeline import STAGES, run_stage
from density_study.workloads import tables
from density_study.workloads.tables.store import read_table
from tests.support.records.factory import RUN, RunFactory

pytestmark = [pytest.mark.spark, pytest.mark.slow]

UNKNOWN = "the CPU use of the cluster's hosts is unknown"
# what watches `here`: a worker's host or the client's; and which hosts nobody watches
CASES: dict[str, tuple[str, list[str] | None]] = {
    "seen": ("worker", []),
    "partly": ("worker", ["dn2"]),
    "client": ("client", ["dn1", "dn2"]),
    "earlier version": ("client", None),
}


def given(role: str, cluster: str) -> dict[str, Any]:
    """The topology as a record has it: the monitored host `here` has the role."""
    roles = {"here": role, "there": "client" if role == "worker" else "worker"}
    hosts = [{"name": host, "cores": 2, "roles": [one]} for host, one in roles.items()]
    nodes = [{"name": f"n-{h}", "host": h, "roles": [one], "cores": 2} for h, one in roles.items()]
    return {"provider": "existing", "name": f"existing-{cluster}", "hosts": hosts, "nodes": nodes,
            "levels": {"cluster": cluster}}  # fmt: skip


@pytest.fixture(scope="module")
def world(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, str]]:
    factory = RunFactory(tmp_path_factory.mktemp("runs") / "quickstart" / RUN)
    trials = {}
    for build, names in (
        ("b1-v1-flash", ("seen", "partly")),
        ("b1-v2-flash", ("client", "earlier version")),
    ):
        for mix, name in zip(("read45-insert55", "scan95-insert5"), names, strict=True):
            trials[name] = factory.ycsb(build, mix).trial
    root = factory.close()
    for name, trial in trials.items():
        path = root / "records" / trial / "manifest.json"
        manifest = json.loads(path.read_text())
        role, unwatched = CASES[name]
        seen = {"hadoop": "3.4.2", "hbase": "2.5.13", "hbase_client": "2.6.4-hadoop3"}
        seen |= {} if unwatched is None else {"unwatched": unwatched}
        manifest["topology"], manifest["isolation"] = (
            given(role, "old" if role == "worker" else "new"),
            "unknown",
        )
        manifest["disclosure"] = {"existing": seen}
        path.write_text(json.dumps(manifest))
    for stage in STAGES:
        run_stage(stage, root)
    return root, trials


@pytest.mark.parametrize("name", CASES)
def test_cpu_is_known_once_all_workers_hosts_are_watched(
    world: tuple[Path, dict[str, str]], name: str
) -> None:
    root, trials = world
    trial = trials[name]
    check = read_table(root, tables.CHECKS).set_index("trial").loc[trial]
    rows = read_table(root, tables.METRICS)
    used = rows[(rows["trial"] == trial) & (rows["name"] == "cpu_used")].set_index("scope")["value"]
    look = first_look(root / "records" / trial)
    if CASES[name][0] == "worker":
        assert 0 < used["host:here"] <= 100
        assert look.cpu_used_percent == pytest.approx(used["host:here"])
    else:
        assert not [scope for scope in used.index if scope.startswith("host:")]
        assert look.cpu_used_percent is None
    reasons = "; ".join(read_table(root, tables.VERDICTS).set_index("trial").loc[trial, "reasons"])
    if name == "seen":
        assert check["cluster_cpu"] == pytest.approx(used["host:here"])
        assert UNKNOWN not in reasons
    else:
        assert check["cluster_cpu"] != check["cluster_cpu"]  # null
        assert UNKNOWN in reasons


def test_the_report_of_clusters_by_name_says_what_is_not_known(
    world: tuple[Path, dict[str, str]],
) -> None:
    summary = summarise(world[0], 0.0)
    warnings = {warning.code: warning for warning in summary.warnings}
    assert "HBase 2.5.13, client 2.6.4-hadoop3" in warnings["hbase-client-version"].message
    assert "CPU use of its hosts" in warnings["existing-cluster"].message
    assert "density or disk types" in str(warnings["existing-cluster"].remedy)
    page = render(summary)
    assert "old" in page and "-1 VMs" not in page
