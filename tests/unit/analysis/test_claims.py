"""C1 to C9: a world in which each claim is true, worlds in which one is false, and undecidable
cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from density_study.analysis.findings import Evidence, findings
from density_study.analysis.findings.claim_questions import LOST
from density_study.analysis.findings.question import UNDEFINED
from density_study.analysis.summary.summary import Finding, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Hypotheses
from tests.support.variants import dfsio, noisy, ycsb

World = tuple[TestCaseSummary, ...]
MIX, SCAN = "read45-insert55", "scan95-insert5"
IDS = tuple(f"C{number}" for number in range(1, 10))


def _world(
    adds: float = 1.2, bare_growth: float = 2.0, hdd_growth: float = 1.02, flash_read: float = 1.1,
    scan_gain: float = 4.0, idle: float = 70.0, wait: float = 1.0, skip: float = 1.02, builds: int = 8,
    small_hdd_ms: float = 40.0, beside: float = 0.95,
) -> World:  # fmt: skip
    """The talk's results by default: 0 to 3 VMs, hdd and flash, all its workloads."""
    entries: list[TestCaseSummary] = []

    def n(value: float) -> list[float]:
        return noisy(value, builds, 0.02, len(entries))

    for disk_type in ("hdd", "flash"):
        hdd = disk_type == "hdd"
        growth = hdd_growth if hdd else 1.8
        entries.append(dfsio("random", disk_type, n(40.0 if hdd else 300.0), 36, 0))
        entries.append(dfsio("random", disk_type, n((40.0 if hdd else 300.0) * growth), 72, 0))
        for mode, ratio in (("backward", 0.98), ("skip", skip)):
            entries.append(
                dfsio(mode, disk_type, n((40.0 if hdd else 300.0) * growth * ratio), 72, 0)
            )
        entries.append(dfsio("read", disk_type, n(100.0 if hdd else 100.0 * flash_read), 72, 0))
        entries.append(ycsb("load", 0, disk_type, n(5000.0 if hdd else 5200.0)))
        for records, ms in ((10, small_hdd_ms), (30, 80.0)):
            gain = 1.0 if hdd else 2.0
            p99 = {("READ", 99.0): n(ms if hdd else 10.0)}
            entries.append(ycsb(MIX, 0, disk_type, n(3000.0 * gain), p99, records=records))
            gain = 1.0 if hdd else scan_gain
            entries.append(ycsb(SCAN, 0, disk_type, n(500.0 * gain), records=records))
    for vms in (0, 1, 2, 3):
        for threads in (8, 32):
            steps = {8: 0, 32: 2}[threads]
            growth = (bare_growth if vms == 0 else 1.2) ** steps
            rate = 2000.0 * (adds ** max(vms - 1, 0)) * (1 if vms == 0 else 1.1)
            used = 100 - idle - wait if vms == 0 else 80.0
            cpu = {"used": n(used), "idle": n(idle if vms == 0 else 15.0), "iowait": n(wait)}
            p50 = {("SCAN", 50.0): n(4.0 * growth)}
            entries.append(ycsb(SCAN, vms, "flash", n(rate), p50, cpu, threads=threads, records=99))
    for neighbour, share in (("nobody", 1.0), ("8 busy threads", beside)):
        p99 = {("READ", 99.0): n(10.0 / share)}
        rate, name = n(500.0 * share), f"beside-{neighbour}"
        entries.append(ycsb(MIX, 3, "flash", rate, p99, test_case=name, neighbour=neighbour))
    return tuple(entries)


def _verdicts(
    world: World, isolation: Isolation = Isolation.VM, **fields: object
) -> dict[str, Finding]:
    builds = world[0].n_builds
    evidence = Evidence(world, builds, isolation, **fields)  # type: ignore[arg-type]
    verdicts = findings(evidence, Hypotheses(questions=IDS))
    return {finding.id: finding for finding in verdicts if finding.id in IDS}


def test_in_the_talks_world_every_claim_is_confirmed() -> None:
    verdicts = _verdicts(_world())
    assert {name: verdicts[name].verdict for name in IDS} == dict.fromkeys(IDS, "confirmed"), {
        name: verdicts[name].why for name in IDS
    }


@pytest.mark.parametrize(
    ("claim", "changed"),
    (
        ("C1", {"hdd_growth": 1.5}),
        ("C2", {"skip": 2.0}),
        ("C3", {"flash_read": 2.0}),
        ("C4", {"scan_gain": 1.5}),
        ("C5", {"adds": 1.0}),
        ("C6", {"bare_growth": 1.2}),
        ("C7", {"idle": 20.0}),
        ("C7", {"wait": 9.0}),
        ("C8", {"small_hdd_ms": 10.0}),
        ("C9", {"beside": 0.6}),
    ),
)
def test_each_false_claim_is_refuted(claim: str, changed: dict[str, float]) -> None:
    verdicts = _verdicts(_world(**changed))  # type: ignore[arg-type]
    assert verdicts[claim].verdict == "refuted", verdicts[claim].why
    others = {name: verdicts[name].verdict for name in IDS if name != claim}
    assert set(others.values()) <= {"confirmed", "inconclusive"}, others


def test_processes_decide_no_vm_claim_and_emulated_disks_no_disk_claim() -> None:
    process = _verdicts(_world(), Isolation.PROCESS)
    assert {name: process[name].verdict for name in ("C5", "C6", "C7", "C9")} == dict.fromkeys(
        ("C5", "C6", "C7", "C9"), "inconclusive"
    )
    assert "process" in process["C5"].why
    emulated = _verdicts(_world(), emulated=frozenset({"hdd", "flash"}))
    assert {finding.verdict for finding in emulated.values()} == {"inconclusive"}


def test_containers_decide_no_claim_about_vms() -> None:
    container = _verdicts(_world(), Isolation.CONTAINER)
    expected = {
        id_: "inconclusive" if id_ in ("C5", "C6", "C7", "C9") else "confirmed" for id_ in IDS
    }
    assert {name: container[name].verdict for name in IDS} == expected
    assert "containers support no claim about VMs" in container["C5"].why


def test_four_builds_support_no_claim() -> None:
    assert {finding.verdict for finding in _verdicts(_world(builds=4)).values()} == {"inconclusive"}


def _only(keep: Callable[[TestCaseSummary], bool]) -> World:
    return tuple(entry for entry in _world() if keep(entry))


def _first_points(name: str, points: tuple[float, ...]) -> World:
    """The world with other points in place of the first one of each metric of that name."""
    return tuple(
        entry.model_copy(
            update={
                "metrics": tuple(
                    one.model_copy(update={"points": (*points, *one.points[1:])})
                    if one.name == name
                    else one
                    for one in entry.metrics
                )
            }
        )
        for entry in _world()
    )


@pytest.mark.parametrize(
    ("name", "claims", "part"),
    (("latency", {"C6", "C8"}, "C6-vm"), ("throughput", {"C4", "C5"}, "C4-scan")),
)
@pytest.mark.parametrize(("points", "why"), (((0.0,), UNDEFINED), ((), LOST)))
def test_ratios_within_builds_need_each_number_of_each_build(
    name: str, claims: set[str], part: str, points: tuple[float, ...], why: str
) -> None:
    """Latencies of others may be whole milliseconds."""
    world = _first_points(name, points)
    if points:
        assert not claims & {id_ for id_, one in _verdicts(world).items() if one.is_decided}
    every = findings(Evidence(world, 8, Isolation.VM), Hypotheses(questions=IDS))
    assert {one.why for one in every if one.id.startswith(part)} == {why}


def test_missing_parts_of_a_study_are_named() -> None:
    flash = _verdicts(_only(lambda entry: entry.disk_type == "flash"))
    assert "random reads on hdd" in flash["C1"].why
    assert {flash[name].verdict for name in ("C1", "C3", "C4", "C8")} == {"inconclusive"}
    one_size = _verdicts(_only(lambda entry: entry.count("records") != 30))
    assert "two data-set sizes" in one_size["C8"].why
    assert {finding.verdict for finding in _verdicts((_world()[0],)).values()} == {"inconclusive"}


def test_unequal_disclosures_prevent_a_claim() -> None:
    verdicts = _verdicts(
        _world(), differences=lambda first, later: ("machine.kernel: 1 (a), 2 (b)",)
    )
    assert {verdicts[name].verdict for name in IDS if name != "C7"} == {"inconclusive"}
    assert "not comparable" in verdicts["C3"].why
