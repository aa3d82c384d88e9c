"""What a study's plan will compare, imagined before it runs, and the noise to expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from density_study.analysis.findings.precision import compared
from density_study.analysis.findings.question import Differences, Evidence, Question
from density_study.analysis.findings.unequal_hosts import unequal_hosts
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.statistics.power import ASSUMED_SPREAD, LEAST_SPREAD
from density_study.analysis.summary.summary import Metric, TestCaseSummary
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import isolation_of
from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.planning.plan import Plan
from density_study.workloads.record.recorded import recorded
from density_study.workloads.study.registry import kind_of
from density_study.workloads.study.study import Study

SPREADS = (0.025, 0.05, 0.1)
"""Between builds: what is unknown before the first run. The chances show what depends on it."""


@dataclass(frozen=True)
class SeenNoise:
    """Variation between builds of a topology (standard deviation of logarithms), and its source. within: what
    is left of it in one repetition, after what the repetition has in common; None: as much. own: that of
    comparisons, by their id or measure; second: that of a second's rate; as far as earlier runs show them."""

    spread: float = ASSUMED_SPREAD
    source: str = f"assumed {ASSUMED_SPREAD:.1%} between builds"
    within: float | None = None
    own: Mapping[str, float] = field(default_factory=dict)
    second: float | None = None

    @property
    def seen(self) -> bool:
        """Whether it comes from earlier runs, or from the study."""
        return not self.source.startswith("assumed")

    @property
    def paired(self) -> float:
        """The noise of a comparison that is paired by repetition."""
        return max(LEAST_SPREAD, self.spread if self.within is None else self.within)

    def of(self, comparison: Question) -> float:
        """The noise of one comparison, paired by repetition."""
        own = self.own.get(comparison.id) or self.own.get(comparison.measure)
        return own or self.paired


def looks_of(plan: Plan) -> Looks | None:
    """After which repetitions the plan's run looks at its questions; None if questions do not end its
    repetitions."""
    bounds = plan.precise
    if bounds is None or bounds.until is not None:
        return None
    return Looks(bounds.at_least, bounds.last)


def imagined(study: Study, plan: Plan) -> Evidence:
    """What the plan's run will compare, if nothing goes wrong: its test cases on their variants."""
    ran = plan.cells
    test_cases = tuple(
        # only how many there are matters; a latency violates no SLO
        made_up(topology, test_case, (1e-9,) * plan.repetitions)
        for test_case in study.test_cases()
        for topology in plan.topologies.values()
        if (test_case.id, topology.name) in ran
    )
    disks = [disk for one in plan.topologies.values() for host in one.hosts for disk in host.disks]
    return Evidence(
        test_cases,
        plan.repetitions,
        isolation_of(topology.isolation for topology in plan.topologies.values()),
        emulated=frozenset(disk.disk_type for disk in disks if disk.emulated),
        sequential=plan.precise is not None and plan.precise.until is not None,
        looks=looks_of(plan),
        confounds=unequal_in(plan),
    )


def unequal_in(plan: Plan) -> Differences:
    """What variants of the plan use unequally of their hosts: known before anything runs."""

    @cache  # a look asks for each comparison
    def between(first: str, later: str) -> tuple[str, ...]:
        return unequal_hosts(*(recorded(plan.topologies[name]) for name in (first, later)))

    return lambda first, later: between(first.topology, later.topology)


def check_can_be_precise(study: Study, plan: Plan, where: str) -> None:
    """InputError if repetitions should end once comparisons are precise enough, and there is none."""
    if (
        plan.precise is None
        or plan.precise.until is None
        or compared(imagined(study, plan), study.hypotheses)
    ):
        return
    raise InputError(
        "no throughput is compared, so no repetition would ever be the last one needed.",
        f"{where}, key repetitions.until",
        "compare at least two levels of a factor, without target rates, or give a number of repetitions.",
    )


def made_up(
    topology: AnyTopology, test_case: TestCase, points: tuple[float, ...]
) -> TestCaseSummary:
    """A test case with these points of every measure, of which only the rate's may be meant."""
    kind = kind_of(test_case.workload)
    fields = {"name": kind.rate, "value": 1.0, "unit": kind.rate_unit, "points": points}
    rate = Metric.model_validate(fields)
    knobs = test_case.summary_fields()
    counts = knobs.get("parameters", {})
    maps = counts.get("readers") or counts.get("files") or 0
    cpu = (
        Metric(name=f"cpu_{kind}", value=1.0, unit="percent", points=points, scope="host:any")
        for kind in ("used", "idle", "iowait")
    )
    recovery = Metric(name="time_to_recover", value=1.0, unit="s", points=points)
    variant = recorded(topology).variant  # for an existing cluster, what the study declares
    return TestCaseSummary(
        topology=topology.name,
        vms_per_host=variant.vms_per_host,
        regionservers_per_node=variant.regionservers_per_node,
        disk_type=variant.disk_type,
        levels=dict(topology.levels),
        test_case=test_case.id,
        workload=test_case.workload,
        label=test_case.id,
        n_builds=len(points),
        metrics=(
            rate,
            *cpu,
            recovery,
            Metric(name="concurrent_maps", value=maps, unit="count"),
            *_latencies(test_case, points),
        ),
        # only the presence of a target rate matters here
        **{**knobs, "target_ops_s": 1.0 if test_case.is_paced else None},
    )


def _latencies(test_case: TestCase, points: Sequence[float]) -> Iterator[Metric]:
    for operation in test_case.latency_operations:
        for percentile in (50.0, 90.0, 95.0, 99.0, 99.9):
            yield Metric(
                name="latency", value=1.0, unit="ms", operation=operation,
                latency_kind="closed-loop", percentile=percentile, points=tuple(points),
            )  # fmt: skip
