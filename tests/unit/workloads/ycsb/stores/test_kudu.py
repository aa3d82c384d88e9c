"""Kudu as the store of a study: what is placed, refused, estimated and said of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.analysis.summarise.software import store_cautions
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.model.store import store_named
from density_study.cluster.stores.kudu.store import (
    cache_mib,
    ensure_programs,
    limit_mib,
    programs_home,
)
from density_study.dags.cli.plan_page import warnings_of
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.preflight import disk_need_mib
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.stores.bindings import binding_of
from tests.support.topologies import local, with_variant

BASE = """
study: s
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
workloads: [{ycsb: {records: [1000], mixes: [a, e], threads: [8]}}]
"""


def study(more: str) -> Study:
    return parse_study(BASE + more, "s.yaml").study


def planned(tmp_path: Path, more: str) -> Plan:
    (tmp_path / "s.yaml").write_text(BASE + more)
    return plan_study(tmp_path / "s.yaml", runs=tmp_path / "runs").plan


def test_a_master_and_a_server_per_worker_with_its_memory(tmp_path: Path) -> None:
    plan = planned(tmp_path, "store: kudu\nfactors: {vms_per_host: [1, 2]}\n")
    for topology, nodes in zip(plan.topologies.values(), (1, 2), strict=True):
        ports = allocate_ports(topology).by_service
        assert len(ports) == len(set(ports.values())) == 2 + 2 * nodes
        for node in topology.workers:
            # above half of the pressure threshold of 60 % Kudu warns, above the threshold it ends
            assert 0 < cache_mib(node) <= 0.3 * limit_mib(node) < node.memory_mib


def test_every_mix_runs_on_it_scans_too(tmp_path: Path) -> None:
    plan = planned(tmp_path, "factors: {vms_per_host: [1], store: [hbase, kudu]}\n")
    builds = {step.build for step in plan.trials if getattr(step.test_case, "mix", "") == "e"}
    assert builds == {"b1-v1-flash-hbase-page-cache", "b1-v1-flash-kudu-page-cache"}


def test_it_cannot_acknowledge_a_write_in_memory() -> None:
    said = "Kudu has no durability memory.*goes through its log.*page_cache or durability: synced"
    with pytest.raises(InputError, match=said):
        study("store: {name: kudu, durability: memory}\nfactors: {vms_per_host: [1]}\n")


def test_the_plan_says_testing_only(tmp_path: Path) -> None:
    both = planned(tmp_path, "factors: {vms_per_host: [1], store: [hbase, kudu]}\n")
    assert len([one for one in warnings_of(both) if "testing only" in one]) == 1
    hbase = planned(tmp_path, "factors: {vms_per_host: [1]}\n")
    assert not [one for one in warnings_of(hbase) if "testing only" in one]


def test_the_report_says_testing_only() -> None:
    kudu: Any = SimpleNamespace(disclosure={"store": {"caution": "testing only"}})
    hbase: Any = SimpleNamespace(disclosure={})
    (warning,) = store_cautions([kudu, hbase, kudu])
    assert (warning.code, warning.message) == ("store-for-testing", "testing only.")
    assert not list(store_cautions([hbase]))


def test_it_is_refused_where_its_programs_do_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(InputError, match="only for Linux on x86-64; this is Linux aarch64"):
        ensure_programs()


def test_servers_take_disk_for_tablets_and_columns() -> None:
    """Measured: 14 containers of 32 MiB for rows of 10 fields, and at least 8 MiB of log per tablet."""
    factors = "factors: {vms_per_host: [1, 2]}\n"
    kudu = disk_need_mib(study(f"store: kudu\n{factors}"))
    assert kudu == disk_need_mib(study(factors)) + 2 * (14 * 32 + 10 * 16)


def test_clients_need_the_master_alone_and_the_tool_every_server() -> None:
    topology = with_variant(local(2), store=store_named("kudu"))
    cluster: Any = SimpleNamespace(topology=topology, built=topology)
    assert binding_of(cluster).properties == {
        "kudu.masters": "127.0.0.1:21000",
        "kudu.servers": "127.0.0.1:21002,127.0.0.1:21004",
        "kudu.pages": "127.0.0.1:21003,127.0.0.1:21005",
        "kudu.home": str(programs_home()),
        "kudu.replication": "1",
    }
