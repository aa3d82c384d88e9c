"""The key `duet`: what it refuses, and the plan of two clusters at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, DiskType
from density_study.cluster.model.ports import allocate_ports
from density_study.dags.stages.budget import fitted
from density_study.dags.stages.earlier import Earlier
from density_study.workloads.planning.duet import turns_of
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.planning.replanned import check_follows
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from tests.support.drafts import host
from tests.support.made_runs.fake_cluster import DUET

SIX = f"{DUET}repetitions: 6\n"
MORE = (
    "{name: h2, address: 192.0.2.2, cores: 2, memory: 6 GiB, disks: [{path: /d, disk_type: flash}]}"
)
ON_HOSTS = {
    "provider__local": "provider: physical\nssh: {user: study}",
    "hosts:\n": f"hosts:\n  - {MORE}\n",
    "127.0.0.1": "192.0.2.1",
    "path__auto, disk_type__auto": "path: /d, disk_type: flash",
}


def study(**replaced: str) -> Study:
    text = SIX
    for old, new in replaced.items():
        old = old.replace("__", ": ")
        assert old in text
        text = text.replace(old, new)
    return parse_study(text, "d.yaml").study


def plan(of: Study, *disk_types: DiskType) -> Plan:
    disks = tuple(Disk(f"/{disk_type}", disk_type) for disk_type in disk_types or ("flash",))
    return make_plan(of, [replace(host(8192), disks=disks)])


@pytest.mark.parametrize(
    ("replaced", "fault"),
    [
        ({"b__{hbase-site": "c: {jvm: {regionserver: {collector: ZGC}}}, b: {hbase-site"},
         "two variants, and the factors make 3"),
        ({", b__{hbase-site": ", } #"}, "two variants"),
        ({"vms_per_host__[1]": "vms_per_host: [1, 2]"}, "may differ in .*configuration"),
        ({"vms_per_host__[1]": "vms_per_host: [1]\n  regionservers_per_node: [1, 2]"}, "remove"),
        ({"mixes__[a, c]": "mixes: [load, a]"}, "cannot take turns"),
        ({"warm_up__2 s": "warm_up: 2 s, latency_at: [50%]"}, "cannot take turns"),
        ({"  - ycsb": "  - testdfsio: {modes: [write], files: 1, file_size: 1 MiB}\n  - ycsb"},
         "testdfsio-write-n1 cannot take turns"),
        ({"duet__4 s": "duet: 8 s"}, "fewer than 3 turns"),
        ({"duet__4 s": "duet: 2 s"}, "it must be 3 or more"),
        ({"duet__4 s": "duet: 61 s"}, "slow phases"),
        ({"duet__4 s": "duet: 4 s\nmonitor: {overhead_trials: 1}"}, "without duet"),
        ({"duet__4 s": "duet: 4 s\nmonitor: {period: 3 s}"}, "no whole sample"),
        ({**ON_HOSTS, "vms_per_host__[1]": "vms_per_host: [0]\n  network: [{mtu: 1400}]"}, "put back"),
        ({"provider__local": "provider: container"}, "needs provider local or physical"),
    ],
)  # fmt: skip
def test_what_cannot_take_turns_is_refused(replaced: dict[str, str], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        study(**replaced)


@pytest.mark.parametrize(
    ("left_out", "disk_types"), [("*a/*-c-*", ()), ("*a/*", ()), ("*/*-c-*", ("flash", "hdd"))]
)
def test_a_duet_has_two_variants_with_the_same_test_cases(
    left_out: str, disk_types: tuple[DiskType, ...]
) -> None:
    some = study(duet__4=f"leave_out: ['{left_out}']\nduet: 4")
    with pytest.raises(InputError, match="two variants with the same test cases"):
        plan(some, *disk_types)


def test_a_duet_may_leave_out_a_test_case_of_both() -> None:
    planned = plan(study(duet__4="leave_out: ['*/*-c-*']\nduet: 4"))
    assert {step.test_case.id for step in planned.trials if step.test_case} == {"ycsb-a-r100-t2"}
    assert all(planned.partner(step) for step in planned.trials)


def test_a_budget_leaves_a_duet_its_turns_and_both_variants(tmp_path: Path) -> None:
    spec = tmp_path / "d.yaml"
    expect = "expect: [{name: h, compare: configuration, workload: c, b_over_a: '> 1'}]"
    changed = SIX.replace("repetitions: 6", expect).replace("questions: []\n", "")
    changed = changed.replace("duet: 4 s", "duet: 60 s").replace(
        "duration: 20 s", "duration: 400 s"
    )
    spec.write_text(changed.replace("memory: 6 GiB", "memory: 10 GiB"))
    made = plan_study(spec, {}, tmp_path / "runs")
    short = fitted(spec, {}, Earlier(made.study, tmp_path / "runs"), 3 * 3600).made
    assert short.study.leave_out == (*(f"{name}/ycsb-a-r100-t2" for name in short.plan.topologies),)
    assert [step.test_case.window_s for step in short.plan.trials[:1] if step.test_case] == [180.0]


def test_both_builds_of_a_repetition_stand_at_once() -> None:
    planned = plan(study())
    assert planned.builds_at_once == 2
    for repetition in range(1, 7):
        steps = [step for step in planned.steps if step.repetition == repetition]
        kinds = [step.kind for step in steps]
        assert kinds == ["up", "up", *4 * ["trial"], "down", "down"]
        first, second = steps[0].build, steps[1].build
        assert [step.build for step in steps] == 4 * [first, second]
        assert {step.beside for step in steps if step.build == first} == {second}
        for one, other in zip(steps[2:6:2], steps[3:6:2], strict=True):
            assert (planned.partner(one), planned.partner(other)) == (other, one)
            assert one.test_case == other.test_case
    assert [step.index for step in planned.steps] == list(range(len(planned.steps)))
    assert [step.order for step in planned.trials] == list(range(24))
    firsts = {step.build.partition("-")[2] for step in planned.steps[::8]}
    assert len(firsts) == 2  # either variant is brought up first


def test_a_study_without_duet_has_one_build_at_a_time() -> None:
    planned = plan(study(duet__4="budget: 4"))
    assert planned.builds_at_once == 1
    assert all(planned.partner(step) is None for step in planned.steps)


def test_each_variant_has_half_of_the_memory_and_ports_of_its_own() -> None:
    alone, both = (plan(one).built for one in (study(duet__4="budget: 4"), study()))
    assert [one.hosts[0].memory_mib for one in alone] == [8192, 8192]
    assert [one.hosts[0].memory_mib for one in both] == [4096, 4096]
    assert [one.hosts[0].cores for one in both] == [2, 2]
    ports = [
        {port for ports in allocate_ports(one).of_addresses.values() for port in ports}
        for one in both
    ]
    assert not ports[0] & ports[1]


def test_turns_are_those_of_the_plan_and_differ_between_trials() -> None:
    of = study()
    planned = plan(of)
    pairs = [(one, planned.partner(one)) for one in planned.trials[::2]]
    found = [turns_of(planned, of, one, other) for one, other in pairs if other]
    assert found == [turns_of(planned, of, one, other) for one, other in pairs if other]
    assert len({one.own for one, _ in found}) > 6
    for (one, other), (mine, theirs) in zip(pairs, found, strict=True):
        assert other is not None
        assert (mine.beside, theirs.beside) == (other.trial, one.trial)
        assert mine.own_s == pytest.approx(20)


@pytest.mark.parametrize("memory", ["auto", "8191 MiB"])
def test_the_plan_of_a_run_follows_from_its_study(memory: str, tmp_path: Path) -> None:
    of = study(**{"memory__6 GiB": f"memory: {memory}"})
    runs = tmp_path / "runs"
    one = replace(host(8191), disks=(Disk(str(runs), "flash"),))
    check_follows(of, make_plan(of, [one]), runs / "duet" / "r1")
