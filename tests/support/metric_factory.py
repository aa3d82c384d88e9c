"""Synthetic test cases, variants and their numbers for `tests.support.summary_factory`."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from density_study.analysis.summary.summary import Metric
from density_study.cluster.model.isolation import Isolation

Workload = Literal["testdfsio", "ycsb"]
USD_PER_HOUR = 0.61


@dataclass(frozen=True)
class Shape:
    """A test case and its numbers with one worker per host, on flash."""

    id: str
    workload: Workload
    label: str
    rate: float  # MiB/s over the map phase, or ops/s
    growth: float  # factor per additional VM
    hdd: float  # rate on hdd over rate on flash
    used: float  # percent of the host's cores
    latency_ms: tuple[tuple[str, float, float], ...] = ()  # operation, p50, p99

    @property
    def knobs(self) -> dict[str, Any]:
        """Mode and parameters, read from its id."""
        if self.workload == "testdfsio":
            mode, files = re.fullmatch(r"testdfsio-(\w+)-n(\d+)", self.id).groups()  # type: ignore[union-attr]
            return {"mode": mode, "parameters": {"files": int(files)}}
        match = re.fullmatch(r"ycsb-(.+)-r(\d+)-t(\d+)", self.id)
        mix, records, threads = match.groups()  # type: ignore[union-attr]
        parameters = {"records": int(records), "threads": int(threads)}
        return {"mode": mix, "parameters": parameters}


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


@dataclass(frozen=True)
class Variant:
    density: int
    disk_type: str
    isolation: Isolation

    @property
    def name(self) -> str:
        return f"v{self.density}-{self.disk_type}"


def unit(variant: Variant, shape: Shape, rng: random.Random) -> list[Metric]:
    """One trial's metrics."""
    steps = max(variant.density - 1, 0)
    noise = math.exp(rng.gauss(0.0, 0.04))
    disk_type = shape.hdd if variant.disk_type == "hdd" else 1.0
    rate = shape.rate * shape.growth**steps * disk_type * noise
    used = min(shape.used * (1 + 0.16 * steps) * disk_type**0.3 * noise, 93.0)
    return [
        *_rates(shape, rate),
        *_latencies(shape, steps, disk_type, noise),
        *_cpu(variant, used, rng),
        *_worth(variant, shape, rate, noise),
    ]


def _worth(variant: Variant, shape: Shape, rate: float, noise: float) -> Iterator[Metric]:
    if shape.workload == "ycsb":
        yield _percent("throughput_cv", 14.0 * noise, None)
    if variant.isolation is Isolation.VM:
        unit = "ops/s per USD/h" if shape.workload == "ycsb" else "MiB/s per USD/h"
        yield Metric.model_validate(
            {"name": "price_performance", "value": rate / USD_PER_HOUR, "unit": unit}
        )


def _rates(shape: Shape, rate: float) -> Iterator[Metric]:
    if shape.workload == "ycsb":
        yield Metric(name="throughput", value=rate, unit="ops/s")
        return
    yield Metric(name="throughput_per_stream", value=rate / 4.6, unit="MiB/s")
    yield Metric(name="throughput_map_phase", value=rate, unit="MiB/s")
    yield Metric(name="throughput_job", value=rate * 0.38, unit="MiB/s")
    yield Metric(
        name="concurrent_maps", value=float(shape.knobs["parameters"]["files"]), unit="count"
    )


def _latencies(shape: Shape, steps: int, disk_type: float, noise: float) -> Iterator[Metric]:
    for operation, p50, p99 in shape.latency_ms:
        slower = (1 + 0.09 * steps) / disk_type**0.8 / noise
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


def _cpu(variant: Variant, used: float, rng: random.Random) -> Iterator[Metric]:
    iowait = (7.0 if variant.disk_type == "hdd" else 1.2) * math.exp(rng.gauss(0.0, 0.2))
    steal = 1.4 if variant.isolation is Isolation.VM and variant.density else 0.0
    parts = {
        "used": used,
        "user": used * 0.68,
        "system": used * 0.29,
        "iowait": iowait,
        "steal": steal,
    }
    for kind, value in {**parts, "idle": 100 - used - iowait - steal}.items():
        yield _percent(f"cpu_{kind}", value, "host:here")
    for node in range(max(variant.density, 1)):
        yield _percent("cpu_used", used * 0.6 / max(variant.density, 1), f"node:worker-{node + 1}")
    yield _percent("cpu_used", used * 0.6, "cluster")
    yield _percent("cpu_used", used * 0.31, "client")
    yield _percent("cpu_user", used * 0.28, "client")
    if variant.isolation is Isolation.PROCESS:
        yield _percent("cpu_used", used * 0.68, "host-less-client:here")
        yield _percent("cpu_used", 0.06, "monitor")
    yield Metric(name="disk_read", value=used * 3.1, unit="MiB/s", scope="host:here")
    yield Metric(name="disk_write", value=used * 1.2, unit="MiB/s", scope="host:here")


def _percent(name: str, value: float, scope: str | None) -> Metric:
    return Metric(name=name, value=value, unit="percent", scope=scope)
