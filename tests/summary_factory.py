"""Made-up `Summary` values of realistic size and shape, for the tests and the README's picture.

`one_block()`: what the quickstart leaves: 2 densities x 6 settings, 1 block, processes for VMs.
`eight_blocks()`: 3 densities x 2 media x 6 settings, 8 blocks, VMs, intervals, decided findings.
`python -m tests.summary_factory one|eight` prints one as summary.json.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from analysis.summary import (
    BuildSummary,
    Finding,
    Metric,
    SettingSummary,
    Summary,
    TimeSummary,
    TrialSummary,
    VerdictName,
)

Workload = Literal["testdfsio", "ycsb"]
UNSEEN: VerdictName = "unknown"


@dataclass(frozen=True)
class Shape:
    """A setting and the numbers it would give on one worker a host, on flash."""

    id: str
    workload: Workload
    label: str
    rate: float  # MiB/s over the map phase, or ops/s
    growth: float  # factor a further VM adds
    hdd: float  # rate on hdd over rate on flash
    used: float  # percent of the host's cores
    latency_ms: tuple[tuple[str, float, float], ...] = ()  # operation, p50, p99


SHAPES = (
    Shape("testdfsio-write-n6", "testdfsio", "TestDFSIO write", 182.0, 1.04, 0.71, 46.0),
    Shape("testdfsio-read-n6", "testdfsio", "TestDFSIO sequential read", 655.0, 1.07, 0.62, 52.0),
    Shape("testdfsio-random-n6", "testdfsio", "TestDFSIO random read", 418.0, 1.1, 0.21, 58.0),
    Shape("ycsb-load-r100000-t8", "ycsb", "YCSB data load", 7420.0, 1.05, 0.93, 55.0,
          (("INSERT", 0.84, 6.9),)),
    Shape("ycsb-read45-insert55-r100000-t8", "ycsb", "YCSB 45/55 read-insert", 8310.0, 1.12, 0.48, 61.0,
          (("INSERT", 0.71, 5.2), ("READ", 0.52, 11.8))),
    Shape("ycsb-scan95-insert5-r100000-t8", "ycsb", "YCSB 95/5 short scan", 1240.0, 1.21, 0.29, 49.0,
          (("INSERT", 0.93, 8.4), ("SCAN", 4.6, 31.5))),
)  # fmt: skip
PHASES_S = {
    "render": 0.4,
    "namenode": 4.1,
    "datanodes": 3.3,
    "yarn": 5.9,
    "zookeeper": 1.6,
    "hbase": 11.2,
    "proof": 1.9,
}


@dataclass(frozen=True)
class _Arm:
    density: int
    medium: str
    isolation: str

    @property
    def name(self) -> str:
        return f"v{self.density}-{self.medium}"


def one_block(study: str = "quickstart") -> Summary:
    """The quickstart's: every interval null, every finding `no claim`, one trial of each kind of trouble."""
    arms = tuple(_Arm(density, "flash", "process") for density in (1, 2))
    summary = _summary(study, arms, blocks=1, provider="local")
    return summary.model_copy(
        update={
            "question": "Do two workers on this host use its CPUs better than one, at the same "
            "total memory?",
            "answer": "One block allows no claim: in this run two workers used the host's CPUs "
            "a little more than one and scanned 21 % faster.",
            "warnings": (
                "isolation: process. Nodes are groups of processes on one machine, a stand-in for VMs.",
                "Data may be served from memory: the data set is 0.4 times the hosts' RAM.",
            ),
            "findings": tuple(_findings(summary, "v1-flash", "v2-flash", "2 workers over 1")),
        }
    )


def eight_blocks(study: str = "density-flash-hdd") -> Summary:
    """3 densities x 2 media x 8 blocks on VMs: intervals everywhere, 288 trials."""
    media = ("flash", "hdd")
    arms = tuple(_Arm(density, medium, "vm") for density in (0, 2, 4) for medium in media)
    summary = _summary(study, arms, blocks=8, provider="libvirt")
    findings = (
        *_findings(summary, "v0-flash", "v2-flash", "2 VMs over the bare host, flash"),
        *_findings(summary, "v2-hdd", "v2-flash", "flash over hdd, 2 VMs"),
    )
    return summary.model_copy(
        update={
            "question": "How many VMs per host, on which disks, for our HBase at p99 <= 40 ms?",
            "answer": "Four VMs per host on flash scan 2.1 times as fast as the bare host and use 84 % "
            "of its CPUs, with SCAN p99 under 40 ms.",
            "findings": findings,
        }
    )


def _summary(study: str, arms: tuple[_Arm, ...], blocks: int, provider: str) -> Summary:
    dice = random.Random(20130226)
    units = {
        (arm, shape.id): [_unit(arm, shape, dice) for _ in range(blocks)]
        for arm in arms
        for shape in SHAPES
    }
    trials = tuple(_trials(arms, blocks, units))
    return Summary(
        study=study,
        run="20261120T201530Z",
        question=None,
        created="2026-11-20T20:23:04Z",
        provider=provider,
        isolation=arms[0].isolation,
        blocks=blocks,
        seed=20130226,
        answer="Nothing is claimed.",
        warnings=(),
        settings=tuple(
            _setting(arm, shape, units[arm, shape.id]) for arm in arms for shape in SHAPES
        ),
        findings=(),
        trials=trials,
        builds=tuple(_builds(arms, blocks, dice)),
        time=_time(trials),
        disclosure=_disclosure(arms),
    )


def _time(trials: tuple[TrialSummary, ...]) -> TimeSummary:
    measuring_s = sum(trial.measure_s or 0.0 for trial in trials)
    parts = (measuring_s, 0.32 * measuring_s, 0.21 * measuring_s, 41.5)
    return TimeSummary(
        measuring_s=parts[0],
        building_s=parts[1],
        waiting_s=parts[2],
        analysing_s=parts[3],
        total_s=sum(parts),
    )


def _unit(arm: _Arm, shape: Shape, dice: random.Random) -> list[Metric]:
    """One trial's metrics."""
    steps = max(arm.density - 1, 0)
    noise = math.exp(dice.gauss(0.0, 0.04))
    medium = shape.hdd if arm.medium == "hdd" else 1.0
    rate = shape.rate * shape.growth**steps * medium * noise
    used = min(shape.used * (1 + 0.16 * steps) * medium**0.3 * noise, 93.0)
    return [*_rates(shape, rate), *_latencies(shape, steps, medium, noise), *_cpu(arm, used, dice)]


def _rates(shape: Shape, rate: float) -> Iterator[Metric]:
    if shape.workload == "ycsb":
        yield Metric(name="throughput", value=rate, unit="ops/s")
        return
    yield Metric(name="throughput_per_stream", value=rate / 4.6, unit="MiB/s")
    yield Metric(name="throughput_map_phase", value=rate, unit="MiB/s")
    yield Metric(name="throughput_job", value=rate * 0.38, unit="MiB/s")
    yield Metric(name="concurrent_maps", value=6.0, unit="count")


def _latencies(shape: Shape, steps: int, medium: float, noise: float) -> Iterator[Metric]:
    for operation, p50, p99 in shape.latency_ms:
        slower = (1 + 0.09 * steps) / medium**0.8 / noise
        for percentile, at_ms in ((50.0, p50), (95.0, p99 * 0.45), (99.0, p99), (99.9, p99 * 2.7)):
            too_few = operation == "INSERT" and "scan" in shape.id and percentile == 99.9
            yield Metric(
                name="latency",
                value=None if too_few else at_ms * slower,
                unit="ms",
                operation=operation,
                latency_kind="closed-loop",
                percentile=percentile,
            )


def _cpu(arm: _Arm, used: float, dice: random.Random) -> Iterator[Metric]:
    iowait = (7.0 if arm.medium == "hdd" else 1.2) * math.exp(dice.gauss(0.0, 0.2))
    steal = 1.4 if arm.isolation == "vm" and arm.density else 0.0
    parts = {
        "used": used,
        "user": used * 0.68,
        "system": used * 0.29,
        "iowait": iowait,
        "steal": steal,
    }
    for kind, value in {**parts, "idle": 100 - used - iowait - steal}.items():
        yield _percent(f"cpu_{kind}", value, "host:here")
    for node in range(max(arm.density, 1)):
        yield _percent("cpu_used", used * 0.6 / max(arm.density, 1), f"node:worker-{node + 1}")
    yield _percent("cpu_used", used * 0.6, "cluster")
    yield _percent("cpu_used", used * 0.31, "client")
    yield _percent("cpu_user", used * 0.28, "client")
    if arm.isolation == "process":
        yield _percent("cpu_used", used * 0.68, "host-less-client:here")
        yield _percent("cpu_used", 0.06, "monitor")
    yield Metric(name="disk_read", value=used * 3.1, unit="MiB/s", scope="host:here")
    yield Metric(name="disk_write", value=used * 1.2, unit="MiB/s", scope="host:here")


def _percent(name: str, value: float, scope: str) -> Metric:
    return Metric(name=name, value=value, unit="percent", scope=scope)


def _setting(arm: _Arm, shape: Shape, units: list[list[Metric]]) -> SettingSummary:
    return SettingSummary(
        topology=arm.name,
        vms_per_host=arm.density,
        regionservers_per_node=1,
        medium=arm.medium,
        setting=shape.id,
        workload=shape.workload,
        label=shape.label,
        n_builds=len(units),
        metrics=tuple(_pooled(list(same)) for same in zip(*units, strict=True)),
    )


def _pooled(same: list[Metric]) -> Metric:
    values = [metric.value for metric in same if metric.value is not None]
    if not values:
        return same[0].model_copy(update={"n": 0})
    middle = median(values)
    ends = {"low": sorted(values)[1], "high": sorted(values)[-2]} if len(values) >= 5 else {}
    return same[0].model_copy(
        update={"value": middle, "points": tuple(values), "n": len(values), **ends}
    )


def _trials(
    arms: tuple[_Arm, ...], blocks: int, units: dict[tuple[_Arm, str], list[list[Metric]]]
) -> Iterator[TrialSummary]:
    order = 0
    for block in range(1, blocks + 1):
        for arm in arms:
            for shape in SHAPES:
                yield _trial(order, block, arm, shape, tuple(units[arm, shape.id][block - 1]))
                order += 1
        yield _failed(order, block, arms[-1])
        order += 1


def _trial(
    order: int, block: int, arm: _Arm, shape: Shape, metrics: tuple[Metric, ...]
) -> TrialSummary:
    verdict: VerdictName = UNSEEN if order % 37 == 5 else "valid"
    reasons = ("clock offset of host here was not measured after the run",)
    return TrialSummary(
        trial=f"b{block}-{arm.name}-{order:02d}-{shape.id}",
        order=order,
        block=block,
        build=f"b{block}-{arm.name}",
        topology=arm.name,
        vms_per_host=arm.density,
        medium=arm.medium,
        setting=shape.id,
        workload=shape.workload,
        state="complete",
        verdict=verdict,
        reasons=() if verdict == "valid" else reasons,
        measure_s=14.0 + order % 9,
        metrics=metrics,
    )


def _failed(order: int, block: int, arm: _Arm) -> TrialSummary:
    reasons = (
        "TestDFSIO exited 254: java.io.IOException: Could not obtain block BP-1:blk_1073741829",
        "monitor samples cover 71 % of the window, under 95 %",
    )
    trial = _trial(order, block, arm, SHAPES[1], ())
    return trial.model_copy(
        update={"state": "failed", "verdict": "invalid", "reasons": reasons, "measure_s": None}
    )


def _builds(arms: tuple[_Arm, ...], blocks: int, dice: random.Random) -> Iterator[BuildSummary]:
    for block in range(1, blocks + 1):
        for arm in arms:
            stretch = (1 + 0.12 * arm.density) * math.exp(dice.gauss(0.0, 0.08))
            phases = {name: round(seconds * stretch, 1) for name, seconds in PHASES_S.items()}
            yield BuildSummary(build=f"b{block}-{arm.name}", topology=arm.name, phases_s=phases)


def _findings(summary: Summary, first: str, later: str, words: str) -> Iterator[Finding]:
    for shape in SHAPES:
        rates = [_rate(summary, topology, shape.id) for topology in (first, later)]
        effect = (rates[1].value or math.nan) / (rates[0].value or math.nan)
        decided = rates[0].n >= 5
        spread = 1.05 if decided else None
        reproduced = decided and effect > 1.1
        yield Finding(
            id=f"{shape.id}-{later}-over-{first}",
            statement=f"{shape.label}: {words}",
            verdict="reproduced" if reproduced else "contradicted" if decided and effect < 1 else "no claim",
            why="the interval lies above 1.1" if reproduced else "fewer than 5 builds an arm"
            if not decided else "the interval meets the margin of equivalence",
            effect=effect,
            low=effect / spread if spread else None,
            high=effect * spread if spread else None,
            n=(rates[0].n, rates[1].n),
            subject=shape.label,
            measure="throughput",
            arms=words,
        )  # fmt: skip


def _rate(summary: Summary, topology: str, setting: str) -> Metric:
    for entry in summary.settings:
        if (entry.topology, entry.setting) == (topology, setting):
            wanted = ("throughput", "throughput_map_phase")
            return next(metric for metric in entry.metrics if metric.name in wanted)
    raise LookupError(f"no setting {setting} on {topology}")


def _disclosure(arms: tuple[_Arm, ...]) -> dict[str, Any]:
    xml = "<configuration>\n  <property>\n    <name>dfs.replication</name>\n    <value>1</value>\n"
    return {
        "versions": {
            "hadoop": "3.4.2",
            "hbase": "2.6.4-hadoop3",
            "ycsb": "0.17.0",
            "java": "17.0.17",
        },
        "kernel": "Linux 6.1.0-40-amd64",
        "cpu": {"model": "AMD EPYC 7B13", "cores": 2, "governor": "performance"},
        "disks": [{"path": "/data/nvme0", "medium": arms[0].medium, "scheduler": "none"}],
        "jvm_flags": ["-Xmx768m", "-XX:+UseG1GC"],
        "rendered": {
            "hdfs-site.xml": f'<?xml version="1.0"?>\n{xml}  </property>\n</configuration>\n'
        },
    }


FACTORIES: dict[str, Callable[[], Summary]] = {"one": one_block, "eight": eight_blocks}

if __name__ == "__main__":
    sys.stdout.write(FACTORIES[sys.argv[1]]().model_dump_json(indent=1))
