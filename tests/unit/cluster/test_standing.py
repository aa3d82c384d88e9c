"""Journals show which cluster is up; the pipeline checks it before Spark starts."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.running_clusters import require_yarn, running_clusters
from density_study.cluster.model.cluster import Cluster, Endpoints
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.journal import Journal
from tests.support.topologies import yarn_cluster


def journal(runs: Path, run: str, *events: tuple[str, str]) -> None:
    log = Journal(runs / "s" / run / "journal.jsonl")
    for event, build in events:
        log.write(event, build=build, act="build", tag="", proof={})


def test_a_build_is_up_from_ready_until_it_is_destroyed(tmp_path: Path) -> None:
    assert running_clusters(tmp_path) == []
    journal(tmp_path, "r2", ("intent", "b1"), ("build-ready", "b1"))
    journal(tmp_path, "r1", ("build-ready", "b1"), ("destroyed", "b1"), ("build-ready", "b2"))
    journal(tmp_path, "r3", ("build-ready", "b1"), ("intent", "b1"))  # being rebuilt
    assert running_clusters(tmp_path) == [tmp_path / "s/r2/builds/b1", tmp_path / "s/r1/builds/b2"]


def test_a_missing_yarn_is_reported_at_once(tmp_path: Path) -> None:
    journal(tmp_path, "r1", ("intent", "b1"), ("build-ready", "b1"))
    build = tmp_path / "s/r1/builds/b1"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = at(listening.getsockname()[1])
        require_yarn(build, there)
    with pytest.raises(StudyError, match="the ResourceManager does not answer"):
        require_yarn(build, there)


def test_another_cluster_at_the_ports_of_a_destroyed_one_is_left_alone(tmp_path: Path) -> None:
    journal(tmp_path, "r1", ("build-ready", "b1"), ("destroyed", "b1"))
    build = tmp_path / "s/r1/builds/b1"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        there = at(listening.getsockname()[1])
        with pytest.raises(InputError, match="its cluster was taken down"):
            require_yarn(build, there)


def at(port: int) -> Cluster:
    topology = yarn_cluster(2048)
    address = f"127.0.0.1:{port}"
    return replace(
        topology, endpoints=Endpoints({"resourcemanager.rpc": {"m1/resourcemanager": address}})
    )
