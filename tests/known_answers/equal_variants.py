"""Do densities differ in nothing but density? On random hosts, by their domains; and with RegionServers that
alone make a denser variant faster."""

from __future__ import annotations

import random
from itertools import combinations

from density_study.analysis.findings import effects
from density_study.analysis.findings.control import DENSITY
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import Evidence
from density_study.analysis.findings.unequal_hosts import unequal_hosts
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.factors.registry import factors
from tests.known_answers.answer import Answer, KnownAnswer
from tests.known_answers.hardware import Machine, different, used
from tests.support.variants import noisy, ycsb

MACHINES = 300
DENSITIES = (1, 2, 3, 4, 6, 8)
BUILDS = 8


def _machine(rng: random.Random) -> Machine:
    """4 to 256 logical CPUs, 8 GiB to 2 TiB, 1 to 24 drives."""
    while True:
        numa, cores = rng.choice([1, 2, 4, 8]), rng.choice([4, 6, 8, 12, 16, 24, 32])
        threads, policy = rng.choice([1, 2]), rng.choice(["all", "pinned"])
        if numa * cores * threads <= 256:
            memory_mib = 2 ** rng.randint(13, 21)
            return Machine(numa, cores, threads, memory_mib, rng.randint(1, 24), policy)  # type: ignore[arg-type]


def hardware() -> list[Answer]:
    """Every pair of densities of each study that is not refused."""
    rng = random.Random(41)
    planned = pairs = silent = obstructed = strewn = 0
    for _ in range(MACHINES):
        machine, densities = _machine(rng), sorted(rng.sample(DENSITIES, 3))
        try:
            variants = machine.topologies(densities)
            found = [used(variant, machine.cpus) for variant in variants]
        except InputError:
            continue
        planned += 1
        strewn += sum(one.strewn + one.shared_cores for one in found)
        for a, b in combinations(range(3), 2):
            pairs += 1
            unequal = different(found[a], found[b])
            obstacles = unequal_hosts(variants[a], variants[b])
            silent += len(unequal) > len(obstacles)
            obstructed += bool(obstacles)
    return [
        Answer(
            f"pairs of variants that use unequal hardware, of {pairs} on {planned} random hosts "
            f"({MACHINES - planned} studies are refused, of {obstructed} pairs claims are obstructed)",
            "0", str(silent), silent == 0,
        ),
        Answer("guests that share a core or have parts of several NUMA nodes", "0", str(strewn), strewn == 0),
    ]  # fmt: skip


def servers(studies: int = 100) -> list[Answer]:
    """On the bare host, 4 RegionServers do twice what one does. In VMs they do as much: VMs do nothing."""
    claimed = blamed = 0
    for study in range(studies):
        one, four, vms = (
            noisy(rate, BUILDS, seed=f"{study}/{name}")
            for name, rate in (("one", 100.0), ("four", 200.0), ("vms", 200.0))
        )
        variants = (
            ycsb("scan", 0, ops_s=one),
            ycsb("scan", 0, ops_s=four, topology="v0-r4-flash", regionservers_per_node=4),
            ycsb("scan", 4, ops_s=vms),
        )
        evidence = Evidence(variants, BUILDS, Isolation.VM)
        asked = (*effects.by_factor(evidence, factors()[DENSITY]), *effects.by_control(evidence))
        findings = decide(asked, BUILDS)
        claimed += any(one.verdict == "confirmed" for one in findings)
        blamed += any("RegionServers per host: 1 -> 4" in one.why for one in findings)
    return [
        Answer(
            f"{studies} studies in which only RegionServers are faster: claims that density helps",
            "at most 5%", f"{claimed / studies:.0%}", claimed <= 0.05 * studies,
        ),
        Answer("the finding names the RegionServers instead", "all", str(blamed), blamed == studies),
    ]  # fmt: skip


def measure() -> list[Answer]:
    return hardware() + servers()


KNOWN = (KnownAnswer("equal-variants", "Do densities differ in nothing but density?", measure),)
