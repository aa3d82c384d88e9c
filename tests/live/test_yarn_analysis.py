"""`study report --master yarn` on one of our clusters: executors in containers, rows as on one
machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.machine.other_users.private_network import entry
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.tags import tagged
from density_study.cluster.stores.answers import fetch_json
from density_study.jobs.ingest.ingest import SMALL_BYTES
from density_study.jobs.remote_analysis import run_place
from density_study.workloads.tables import TABLES
from density_study.workloads.tables.store import read_table
from tests.bench.made_run import Size, make_run
from tests.live.support.builds import open_build, topology
from tests.live.support.command import STUDY

pytestmark = pytest.mark.timeout(600)

CONTAINERS_MIB = 2560
"""Of each node: room for an ApplicationMaster and an executor."""
SIZE = Size(trials=8, hosts=10, seconds=2400)
"""Enough that executors compute the facts as well: 9 MB of their tables."""


def roomy(base: Topology) -> Topology:
    def grown(node: Node) -> Node:
        more = CONTAINERS_MIB - node.container_mib
        return replace(node, container_mib=CONTAINERS_MIB, memory_mib=node.memory_mib + more)

    return replace(base, nodes=tuple(grown(n) if n.regionservers else n for n in base.nodes))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("yarn")
    site, journal = open_build(folder, os.getpid())
    try:
        yield bring_up(site, roomy(topology(folder)), ensure_stacks(), journal)
    finally:
        tear_down(site, journal)
        assert tagged(site.tag) == []


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same records twice: one for analysis here, one on YARN; large enough for executors."""
    root = tmp_path_factory.mktemp("runs") / "made" / "here"
    make_run(root, SIZE)
    raw = sum(path.stat().st_size for path in root.glob("records/*/[mr]*/*"))
    assert raw > SMALL_BYTES
    there = root.with_name("there")
    shutil.copytree(root, there)
    return {"here": root, "there": there}


def analyse(root: Path, *options: str) -> None:
    done = subprocess.run(
        [str(STUDY), "report", str(root), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert str(root / "report" / "index.html") in done.stdout


def yarn_answer(cluster: Cluster, what: str) -> Any:
    url = f"http://{cluster.endpoints.one('resourcemanager.http')}/ws/v1/cluster/{what}"
    return fetch_json(url, 10, cluster.endpoints.network)


def fetched(cluster: Cluster, run: Path, folder: Path) -> Path:
    """A copy of the run's folder in HDFS, read in the cluster's network."""
    points = cluster.endpoints
    place = run_place(f"hdfs://{points.one('namenode.rpc')}/study/runs", run)
    host, _, port = points.one("namenode.http").rpartition(":")
    copy = (
        "import fsspec, sys; "
        f"fsspec.filesystem('webhdfs', host={host!r}, port={port}, user='root')"
        ".get(sys.argv[1], sys.argv[2], recursive=True)"
    )
    path = str(place).partition(points.one("namenode.rpc"))[2]
    argv = (*entry(points.network), sys.executable, "-c", copy, path, str(folder / "copy"))
    subprocess.run(argv, check=True)
    return folder / "copy"


def test_rows_equal_those_of_one_machine(
    cluster: Cluster, runs: dict[str, Path], tmp_path: Path
) -> None:
    analyse(runs["here"], "--master", "local[2]")
    analyse(runs["there"], "--master", "yarn", "--runs", str(cluster.site.root.parents[3]))

    (app,) = yarn_answer(cluster, "apps")["apps"]["app"]
    assert (app["applicationType"], app["finalStatus"]) == ("SPARK", "SUCCEEDED")
    assert app["memorySeconds"] > 0
    localized = {
        worker.name
        for worker in cluster.topology.workers
        for _ in Path(worker.disk.path if worker.disk else "").rglob(
            f"{worker.name}/nodemanager/**/filecache/*/*.tar.gz/bin/python3.*"
        )
    }
    assert localized == {"w1", "w2"}, "each node's executor unpacked the archived Python"

    assert not (runs["there"] / "tables").exists()
    data = fetched(cluster, runs["there"], tmp_path)
    for name, table in TABLES.items():
        expected, actual = read_table(runs["here"], table), read_table(data, table)
        pd.testing.assert_frame_equal(expected, actual, check_exact=True, obj=name)
    assert len(read_table(data, TABLES["host_samples"])) >= SIZE.samples
    for name in ("host_samples", "trial_rate_series"):
        parts = list((data / "tables" / name).glob("*.parquet"))
        assert len(parts) > 1, f"more than one task wrote {name}"


def test_numbers_of_the_report_are_equal_too(runs: dict[str, Path]) -> None:
    summaries = [
        json.loads((root / "report" / "summary.json").read_text()) for root in runs.values()
    ]
    for summary in summaries:
        del summary["created"], summary["time"]
        # more repetitions take as long as these did, analysis included
        summary["undecided"] = re.sub(r", about [^)]+", "", summary["undecided"])
    assert summaries[0] == summaries[1]
    assert len(summaries[0]["trials"]) == SIZE.trials
