"""The key `fault`: one trial per build, its last one, where the cluster can go on without the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.study.providers.libvirt_hosts import declared_hosts
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.fault_under_load.victims import victims_nodes
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import host, ycsb_study

FAULT = "fault: {kill: regionserver, at: 10 s, duration: 60 s}"


def study(fault: str = FAULT, **replaced: str) -> Study:
    return ycsb_study(fault, **replaced)


def plan(spec: Study) -> Plan:
    return make_plan(spec, [host(12288)])


def of_fault(spec: Study) -> YcsbTestCase:
    (found,) = (s for s in spec.test_cases() if isinstance(s, YcsbTestCase) and s.fault)
    return found


def test_a_fault_adds_a_trial_at_half_the_saturation() -> None:
    found = of_fault(study())
    assert found.id == "ycsb-read45-insert55-r100000-t8-at50pct-kill-regionserver-at10s"
    assert found.size_label.endswith("at 50 % of saturation, RegionServer killed after 10 s")
    assert (found.duration_s, found.target_percent, found.is_saturation) == (60.0, 50.0, False)
    assert len(study().test_cases()) == len(study("clients: 1").test_cases()) + 1
    assert YcsbTestCase.model_validate_json(found.model_dump_json()) == found


def test_rate_and_mix_can_be_chosen() -> None:
    more = "mix: scan95-insert5, rate: 300/s}"
    found = of_fault(study(FAULT.replace("}", f", {more}")))
    assert (found.mix, found.target_ops_s, found.target_percent) == ("scan95-insert5", 300.0, None)


def test_it_is_the_last_trial_of_a_build_even_after_pairs_of_monitoring_overhead() -> None:
    spec = study(**{"monitor: {tool: dool, period: 1 s}": "monitor: {overhead_trials: 2}"})
    found = plan(spec)
    for build in found.builds:
        trials = [step for step in found.trials if step.build == build and step.test_case]
        broken = [bool(step.test_case and step.test_case.breaks_cluster) for step in trials]
        if "v2" in build:
            assert broken[-1] and not any(broken[:-1])
        else:  # one RegionServer: nobody would take its regions over
            assert not any(broken)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (FAULT.replace("regionserver", "namenode"), "write 'regionserver'"),
        (FAULT.replace("at: 10 s", "at: 50 s"), "leave less than 10 s to recover"),
        (FAULT.replace("}", ", mix: load}"), "a fault needs a mix besides load"),
        (FAULT.replace("at: 10 s, ", ""), "at"),
        ("fault: {at: 10 s, duration: 60 s}", "one of kill, cut and slow_disk"),
        ("fault: {kill: node, cut: host, at: 10 s, for: 9 s, duration: 60 s}", "one of kill"),
        ("fault: {kill: node, at: 10 s, for: 9 s, duration: 60 s}", "leave `for` out"),
        ("fault: {cut: host, at: 10 s, duration: 60 s}", "how long it lasts"),
        ("fault: {cut: host, at: 10 s, for: 45 s, duration: 60 s}", "leave less than 10 s"),
        ("fault: {slow_disk: {}, at: 10 s, for: 9 s, duration: 60 s}", "needs a limit"),
    ],
)
def test_faulty_keys_are_named(fault: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(fault)
    assert message in str(caught.value)
    assert "workloads[1].ycsb.fault" in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "replaced", "message"),
    [
        (FAULT, {"[1, 2]": "[1]"}, "no topology has a second RegionServer"),
        (FAULT.replace("regionserver", "datanode"), {}, "two replicas of each block"),
    ],
)
def test_a_fault_that_no_topology_survives_is_refused(
    fault: str, replaced: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        plan(study(fault, **replaced))
    assert message in str(caught.value)


HOSTS = """\
study: hosts
provider: {provider}
hosts:
  - {{name: m1, address: 192.0.2.10, cores: 8, memory: 8 GiB, roles: [master, client], disks: [{disk}]}}
  - {{name: h1, address: 192.0.2.11, cores: 8, memory: 16 GiB, disks: [{disk}]}}
  - {{name: h2, address: 192.0.2.12, cores: 8, memory: 16 GiB, disks: [{disk}]}}
  - {{name: h3, address: 192.0.2.13, cores: 8, memory: 16 GiB, disks: [{disk}]}}
ssh: {{user: study}}
{vms}
factors: {{vms_per_host: {densities}}}
stack: {{replication: 2}}
workloads:
  - ycsb: {{records: [1000], mixes: [a], threads: [8], duration: 5 min, {fault}}}
"""
GUESTS = {"provider": "libvirt", "densities": "[1, 2, 4]", "vms": "vms: {network: 192.0.2.0/24, "
          "addresses: 192.0.2.100-192.0.2.140, bridge: br0}"}  # fmt: skip
BARE = {"provider": "physical", "densities": "[0]", "vms": ""}


def on_hosts(fault: str, **made: str) -> Plan:
    text = HOSTS.format(disk="{path: /data/a, disk_type: flash}", fault=fault, **made)
    spec = parse_study(text, "hosts.yaml").study
    if made["provider"] == "libvirt":
        return make_plan(spec, declared_hosts(spec, Path("runs")))
    hosts = [
        Host(one.name, one.address, 8, 16384, (Disk("/data/a", "flash"),), tuple(one.roles))
        for one in spec.hosts
    ]
    return make_plan(spec, hosts)


@pytest.mark.parametrize(("place", "dead"), [("node", 1), ("host", None)])
def test_density_is_a_factor_of_losing_a_node_or_a_host(place: str, dead: int | None) -> None:
    found = on_hosts(f"fault: {{kill: {place}, at: 60 s}}", **GUESTS)
    assert len(found.topologies) == 3
    for topology in found.topologies.values():
        victims = victims_nodes(topology, place)  # type: ignore[arg-type]
        assert victims is not None
        assert len(victims) == (dead or topology.variant.vms_per_host)
        nodes = [node for node in topology.nodes if node.name in victims]
        assert {node.host for node in nodes} == {"h3"}
        assert all(node.roles == ("worker",) for node in nodes)
    broken = [s.build for s in found.trials if s.test_case and s.test_case.breaks_cluster]
    assert sorted(broken) == sorted(found.builds)


def test_a_host_is_cut_off_for_a_time() -> None:
    found = on_hosts("fault: {cut: host, at: 60 s, for: 45 s}", **BARE)
    (test_case,) = {
        s.test_case.id: s.test_case
        for s in found.trials
        if s.test_case and s.test_case.breaks_cluster
    }.values()
    assert test_case.id.endswith("cut-host-at60s-for45s")
    assert test_case.size_label.endswith("host cut off after 60 s for 45 s")
    assert test_case.needs_of_workers == ("check-cut",)
    assert type(test_case).model_validate_json(test_case.model_dump_json()) == test_case


@pytest.mark.parametrize(
    ("fault", "made", "message"),
    [
        ("fault: {cut: host, at: 60 s, for: 45 s}", GUESTS, "cuts off no guests"),
        ("fault: {slow_disk: {read_mib_s: 5}, at: 60 s, for: 45 s}", BARE, "provider local"),
    ],
)
def test_what_a_provider_cannot_do_is_refused(
    fault: str, made: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        on_hosts(fault, **made)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("fault: {cut: host, at: 1 s, for: 10 s, duration: 60 s}", "this machine's loopback"),
        (
            "fault: {kill: host, at: 1 s, duration: 60 s}",
            "no topology has a host with only workers",
        ),
        ("fault: {kill: node, at: 1 s, duration: 60 s}", "no topology has a second RegionServer"),
    ],
)
def test_on_one_machine_only_some_faults_are_possible(fault: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        plan(study(fault))
    assert message in str(caught.value)


def test_a_disk_of_this_machine_may_be_slow() -> None:
    fault = of_fault(
        study(
            "fault: {slow_disk: {read_mib_s: 5, write_iops: 20}, at: 10 s, for: 10 s, duration: 60 s}"
        )
    )
    assert fault.id.endswith("slow-disk-at10s-for10s")
    assert fault.size_label.endswith(
        "disk of a node slowed down (write_iops 20, read_mib_s 5) after 10 s for 10 s"
    )
    assert fault.needs_of_workers == ("check-slow-disk",)


def test_masters_may_die_anywhere() -> None:
    spec = study(FAULT.replace("regionserver", "hmaster"))
    found = plan(spec)
    assert sum(bool(s.test_case and s.test_case.breaks_cluster) for s in found.trials) == len(
        found.builds
    )
