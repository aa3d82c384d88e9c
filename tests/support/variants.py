"""Test cases with points by build, for tests of findings: the result of a run with `builds`
repetitions."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import median

from density_study.analysis.summary.summary import Metric, TestCaseSummary

BUILDS = 8
SPREAD = 0.03


def noisy(
    value: float, builds: int = BUILDS, spread: float = SPREAD, seed: object = 0
) -> list[float]:
    """`value` with noise from build to build."""
    rng = random.Random(f"{seed}/{value}")
    return [value * math.exp(rng.gauss(0.0, spread)) for _ in range(builds)]


def ycsb(
    mix: str,
    vms: int = 1,
    disk_type: str = "flash",
    ops_s: Sequence[float] = (100.0,),
    latencies: Mapping[tuple[str, float], Sequence[float]] | None = None,
    cpu: Mapping[str, Sequence[float]] | None = None,
    threads: int = 8,
    records: int = 1000,
    **changes: object,
) -> TestCaseSummary:
    """`latencies`: (operation, percentile) -> ms; `cpu`: used, idle, iowait -> percent of the host."""
    metrics = [_metric("throughput", "ops/s", ops_s)]
    for (operation, percentile), points in (latencies or {}).items():
        fields = {"operation": operation, "latency_kind": "closed-loop", "percentile": percentile}
        metrics.append(_metric("latency", "ms", points, **fields))
    for name, points in (cpu or {}).items():
        metrics.append(_metric(f"cpu_{name}", "percent", points, scope="host:h1"))
    base = TestCaseSummary(
        topology=f"v{vms}-{disk_type}", vms_per_host=vms, regionservers_per_node=1, disk_type=disk_type,
        test_case=f"ycsb-{mix}-r{records}-t{threads}", workload="ycsb", label=f"YCSB {mix}",
        n_builds=len(ops_s), metrics=tuple(metrics), mode=mix,
        parameters={"records": records, "threads": threads},
    )  # fmt: skip
    return base.model_copy(update=changes)


def dfsio(
    mode: str,
    disk_type: str = "flash",
    mib_s: Sequence[float] = (100.0,),
    readers: int = 6,
    vms: int = 1,
) -> TestCaseSummary:
    return TestCaseSummary(
        topology=f"v{vms}-{disk_type}", vms_per_host=vms, regionservers_per_node=1, disk_type=disk_type,
        test_case=f"testdfsio-{mode}-n{readers}", workload="testdfsio", label=f"TestDFSIO {mode}",
        n_builds=len(mib_s), mode=mode, parameters={"files": readers},
        metrics=(
            _metric("throughput_map_phase", "MiB/s", mib_s),
            _metric("concurrent_maps", "count", [float(readers)] * len(mib_s)),
        ),
    )  # fmt: skip


def _metric(name: str, unit: str, points: Sequence[float], **fields: object) -> Metric:
    value = median(points) if points else None
    return Metric.model_validate(
        {
            "name": name,
            "unit": unit,
            "value": value,
            "points": tuple(points),
            "n": len(points),
            **fields,
        }
    )


def measured_case(rates: tuple[float, ...], **variant: object) -> TestCaseSummary:
    level: dict[str, str] = variant.pop("levels", {})  # type: ignore[assignment]
    fields: dict[str, object] = {
        "vms_per_host": 1, "regionservers_per_node": 1, "disk_type": "flash", **variant
    }  # fmt: skip
    topology = "-".join(map(str, (*fields.values(), *level.values())))
    metrics = (
        Metric(name="throughput", value=rates[0], unit="ops/s", points=rates),
        Metric(name="cpu_used", value=50.0, unit="percent", points=(50.0,), scope="host:h"),
    )
    return TestCaseSummary.model_validate(
        {**fields, "topology": topology, "levels": level, "test_case": "ycsb-c-r1000-t8", "mode": "c",
         "workload": "ycsb", "label": "YCSB c", "n_builds": len(rates), "metrics": metrics}
    )  # fmt: skip
