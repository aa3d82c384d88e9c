"""What charts draw from: a `View` of the summary, and `Observation`s: a metric of a test case, and its place.

Every datum drawn carries that place as a JSON pointer (RFC 6901) into summary.json, so that a reader or
a test can compare the drawn number with the stored one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from density_study.analysis.report.charts.palette import Style, styles
from density_study.analysis.summary.summary import (
    UNKNOWN_DISK_TYPE,
    Metric,
    Summary,
    TestCaseSummary,
    unknown_first,
)
from density_study.cluster.model.plain import capitalised

Row = dict[str, Any]  # one datum of a chart: plain JSON values
# Test case, vms_per_host and disk_type: the attributes that the page's filters use.
Of = tuple[str, str, str]


@dataclass(frozen=True)
class Observation:
    """`ref` points to the metric in summary.json. `warned`: which units have a trial with warnings."""

    ref: str
    test_case: TestCaseSummary
    metric: Metric
    warned: tuple[bool, ...] = ()

    @property
    def of(self) -> Of:
        return self.test_case.test_case, str(self.test_case.vms_per_host), self.test_case.disk_type

    def rows(self) -> Iterator[Row]:
        """A row per unit in repetition order (`part` "unit"), then one for the value ("value").

        A single unit without an interval is its own value, and a null value has no row.
        """
        metric, of = self.metric, list(self.of)
        for index, value in enumerate(metric.points):
            ref = f"{self.ref}/points/{index}"
            mark = {"warned": True} if self._is_warned(index) else {}
            yield {"part": "unit", "ref": ref, "value": value, "of": of, **mark}
        if len(metric.points) != 1 or metric.low is not None:
            yield from self.value_row()

    def value_row(self) -> Iterator[Row]:
        """The row of the metric itself, also where it has a single unit; none where it is null."""
        metric = self.metric
        if metric.value is not None:
            ends = {} if metric.low is None else {"low": metric.low, "high": metric.high}
            of = list(self.of)
            mark = {"warned": True} if any(self.warned) else {}
            yield {
                "part": "value",
                "ref": self.ref,
                "value": metric.value,
                "of": of,
                **ends,
                **mark,
            }

    def _is_warned(self, index: int) -> bool:
        """For every unit, if the metric is not known in all of them: then the places do not agree."""
        if len(self.warned) == len(self.metric.points):
            return self.warned[index]
        return any(self.warned)


@dataclass(frozen=True)
class View:
    """A run's summary, and what its densities and variants are called in every chart and table."""

    summary: Summary

    def observations(self, names: Collection[str]) -> list[Observation]:
        """Every metric with one of these names, in the summary's order."""
        return [
            Observation(
                f"/test_cases/{at}/metrics/{index}",
                test_case,
                metric,
                self._warned.get((test_case.topology, test_case.test_case), ()),
            )
            for at, test_case in enumerate(self.summary.test_cases)
            for index, metric in enumerate(test_case.metrics)
            if metric.name in names
        ]

    @cached_property
    def _warned(self) -> dict[tuple[str, str], tuple[bool, ...]]:
        """For each topology and test case, by repetition: whether a trial that counts has warnings."""
        found: dict[tuple[str, str], dict[int, bool]] = {}
        for trial in self.summary.trials:
            if trial.counted and trial.overhead_pair is None:
                builds = found.setdefault((trial.topology, trial.test_case), {})
                builds[trial.repetition] = builds.get(trial.repetition, False) or trial.has_warnings
        return {variant: tuple(on for _, on in sorted(b.items())) for variant, b in found.items()}

    @property
    def process(self) -> bool:
        """Whether process groups simulate VMs."""
        return self.summary.isolation.facts.only_stands_in

    @property
    def density_header(self) -> str:
        return f"{capitalised(self.noun)}s per host"

    @property
    def noun(self) -> str:
        """What a node is called."""
        return self.summary.isolation.facts.noun

    def density(self, vms_per_host: int | None) -> str:
        """The tick on a chart's axis."""
        if vms_per_host is None:
            return "unknown"
        return "bare" if vms_per_host == 0 else str(vms_per_host)

    def density_in_words(self, vms_per_host: int | None) -> str:
        if vms_per_host is None:
            return "unknown density"
        if vms_per_host == 0:
            return "bare host"
        return f"{vms_per_host} {self.noun}{'s' if vms_per_host > 1 else ''} per host"

    @property
    def densities(self) -> tuple[str, ...]:
        """Every density of the run, ascending. A density without a valid trial keeps its empty place."""
        seen = {test_case.vms_per_host for test_case in self.summary.test_cases}
        seen |= {trial.vms_per_host for trial in self.summary.trials}
        return tuple(self.density(vms_per_host) for vms_per_host in sorted(seen, key=unknown_first))

    @cached_property
    def emulated(self) -> list[str]:
        warnings = self.summary.warnings
        return sorted({w.subject for w in warnings if w.code == "emulated-disk" and w.subject})

    @property
    def badges(self) -> tuple[str, ...]:
        """Marks on every figure, so that a figure cut out of the page still shows its limits."""
        stand_in = self.summary.isolation.facts.stand_in
        return (
            *filter(None, (stand_in,)),
            *(f"{disk_type}: emulated" for disk_type in self.emulated),
        )

    def disk_type(self, disk_type: str) -> str:
        return f"{disk_type} (emulated)" if disk_type in self.emulated else disk_type

    def variant(self, test_case: TestCaseSummary) -> str:
        """What colour and shape encode: all but the density. The disk type, RegionServers per node if they
        vary, and the levels of factors that have names."""
        disk_type, servers = self.disk_type(test_case.disk_type), test_case.regionservers_per_node
        disk_type = "unknown disk type" if disk_type == UNKNOWN_DISK_TYPE else disk_type
        control: tuple[str, ...] = ()
        if self._many_regionservers and servers is not None:
            control = (f"{servers} RegionServer{'s' if servers > 1 else ''} per node",)
        return ", ".join((disk_type, *control, *test_case.levels.values()))

    @property
    def matrix_header(self) -> str:
        """The heading of the table with all results."""
        return (
            "Density by disk type" if self.variant_header == "Disk type" else "Results by variant"
        )

    @property
    def variant_header(self) -> str:
        """The header of a column with `variant`."""
        named = any(test_case.levels for test_case in self.summary.test_cases)
        return "Variant" if named else "Disk type"

    @cached_property
    def _many_regionservers(self) -> bool:
        return len({test_case.regionservers_per_node for test_case in self.summary.test_cases}) > 1

    @property
    def variant_styles(self) -> dict[str, Style]:
        """The style of each variant of the run: a variant looks the same in every figure."""
        ordered = sorted(
            self.summary.test_cases,
            key=lambda one: (one.disk_type, unknown_first(one.regionservers_per_node)),
        )
        return styles(list(dict.fromkeys(map(self.variant, ordered))))

    def where(self, test_case: TestCaseSummary) -> str:
        return f"{self.density_in_words(test_case.vms_per_host)}, {self.variant(test_case)}"

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each test case's id."""
        return {test_case.test_case: test_case.label for test_case in self.summary.test_cases}

    @property
    def has_intervals(self) -> bool:
        return any(m.low is not None for one in self.summary.test_cases for m in one.metrics)
