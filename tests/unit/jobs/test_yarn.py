"""Spark's YARN configuration, derived only from the cluster."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.clients.spark_on_yarn import executors
from density_study.cluster.model.cluster import cluster_json
from density_study.cluster.model.errors import InputError
from density_study.jobs.remote_analysis import (
    AnalysisTarget,
    analyse_elsewhere,
    standing_cluster,
    yarn_engine,
)
from density_study.workloads.tables.storage import NAMENODES
from tests.support.topologies import yarn_cluster

ARCHIVE = Path("/cache/python.tar.gz")


def test_executors_fit_the_containers_of_the_nodes() -> None:
    options = yarn_engine(yarn_cluster(3000), ARCHIVE).options
    assert options["spark.executor.instances"] == "2"
    assert options["spark.executor.cores"] == "1"  # two nodes share a host of two cores
    assert options["spark.executor.memory"] == "1152m"
    assert options["spark.executor.memoryOverhead"] == "1152m"
    # YARN allocates containers in steps of 256 MiB; the ApplicationMaster's of 512 is beside them
    assert (1152 + 1152) % 256 == 0 and 1152 + 1152 + 512 <= 3000


def test_executors_never_use_more_than_a_jvm_with_c1_can_use() -> None:
    options = yarn_engine(yarn_cluster(64_000, workers=1), ARCHIVE).options
    assert (options["spark.executor.memory"], options["spark.executor.cores"]) == ("4096m", "2")


@pytest.mark.parametrize("own_cores", [False, True])
def test_spark_gets_as_much_of_a_host_at_every_density(own_cores: bool) -> None:
    """One node of 64 cores got an executor of 4, and eight nodes of 8 cores got eight executors. Cores of a
    node's own were divided twice."""
    for nodes in (1, 2, 4, 8):
        cluster = yarn_cluster(128 * 1024 // nodes, nodes)
        topology = cluster.topology
        cores = 64 // nodes if own_cores else 64
        wide = replace(
            topology,
            hosts=tuple(replace(host, cores=64) for host in topology.hosts),
            nodes=tuple(replace(node, cores=cores) for node in topology.nodes),
        )
        options = executors(wide)
        assert (options["spark.executor.instances"], options["spark.executor.cores"]) == ("16", "4")
        heap, beside = (
            int(options[f"spark.executor.{name}"].removesuffix("m"))
            for name in ("memory", "memoryOverhead")
        )
        left = 128 * 1024 // nodes - 512 - 16 // nodes * (heap + beside)
        assert 0 <= left < heap + beside  # no room for an executor of another node


def test_too_small_containers_are_refused_before_the_start() -> None:
    with pytest.raises(InputError, match="YARN has 1280 MiB per node; Spark needs 1536"):
        yarn_engine(yarn_cluster(1280), ARCHIVE)


def test_python_is_an_archive_and_the_cluster_has_its_own_configuration() -> None:
    standing = yarn_cluster(2048)
    engine = yarn_engine(standing, ARCHIVE)
    assert engine.options["spark.archives"] == "file:///cache/python.tar.gz#python"
    assert engine.python == "./python/bin/python3." + str(sys.version_info.minor)
    assert engine.environment["HADOOP_CONF_DIR"] == "/runs/q/1/builds/b1/conf/client"
    points = standing.endpoints
    namenodes = f"{points.one('namenode.rpc')}={points.one('namenode.http')}"
    assert (
        engine.environment[NAMENODES]
        == engine.options[f"spark.executorEnv.{NAMENODES}"]
        == namenodes
    )
    assert engine.address == engine.options["spark.executorEnv.SPARK_LOCAL_IP"] == "127.0.0.1"


def test_a_build_without_a_cluster_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this build has no cluster"):
        standing_cluster(tmp_path)
    (tmp_path / "cluster.json").write_text("{}")
    with pytest.raises(InputError, match="this build has no cluster"):
        standing_cluster(tmp_path)
    (tmp_path / "cluster.json").write_text(cluster_json(yarn_cluster(2048)))
    assert standing_cluster(tmp_path) == yarn_cluster(2048)


def test_a_cluster_of_an_earlier_version_is_not_one_without_services(tmp_path: Path) -> None:
    saved = json.loads(cluster_json(yarn_cluster(2048)))
    saved["endpoints"] = {"namenode_rpc": "127.0.0.1:21000", "network": ""}
    (tmp_path / "cluster.json").write_text(json.dumps(saved))
    with pytest.raises(InputError, match="another version"):
        standing_cluster(tmp_path)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (AnalysisTarget("yarn"), "no cluster is named"),
        (AnalysisTarget("local[2]", store="/srv/data"), "is a folder of this machine"),
    ],
)
def test_an_unusable_target_is_refused(where: AnalysisTarget, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        analyse_elsewhere(tmp_path, where)
