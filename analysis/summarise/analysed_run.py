"""`AnalysedRun`: the input of a summary, read once from a run's manifests and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from density_study.analysis.findings.unequal_hosts import moved_along, unequal_hosts
from density_study.analysis.summarise import read_rows
from density_study.analysis.summarise.read_ahead import without_read_ahead
from density_study.analysis.summary.disclosure import (
    Difference,
    declared_changes,
    unequal_durability,
    unexpected_differences,
)
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.machine.equality.judgement import unequal_facts
from density_study.cluster.model.topology import Topology
from density_study.workloads import tables
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.record.recorded import RecordedTopology
from density_study.workloads.study.factors.tier import PMEM, is_emulated
from density_study.workloads.tables.store import read_table


@dataclass(frozen=True)
class AnalysedRun:
    """`manifests` in the order the trials ran, `topologies` by name, `test_cases` and `labels` by id."""

    manifests: tuple[Manifest, ...]
    topologies: Mapping[str, RecordedTopology | Topology]
    labels: Mapping[str, str]
    test_cases: Mapping[str, TestCase]
    trials: pd.DataFrame
    verdicts: pd.DataFrame
    metrics: pd.DataFrame
    test_case_metrics: pd.DataFrame
    usd_per_hour: Mapping[str, float]

    @classmethod
    def read(cls, run_root: Path) -> AnalysedRun:
        """StudyError if a table is missing."""
        closed = closed_records(run_root / "records")
        manifests = tuple(sorted(closed.values(), key=lambda manifest: manifest.order))
        test_cases = {manifest.test_case_id: manifest.test_case for manifest in manifests}
        topologies = [manifest.topology for manifest in manifests]
        trials = read_table(run_root, tables.TRIALS).sort_values("order")
        verdicts = read_table(run_root, tables.VERDICTS).set_index("trial")
        steady = read_rows.steadiness(run_root)
        counted = trials[trials["trial"].map(verdicts["counted"]) & trials["studied"]]
        counted = counted[["trial", "topology", "test_case", "repetition", "build"]]
        return cls(
            manifests=manifests,
            topologies={topology.name: topology for topology in topologies},
            labels=labels(test_cases),
            trials=trials,
            verdicts=verdicts,
            metrics=read_rows.with_rows(
                tables.METRICS, read_table(run_root, tables.METRICS), steady
            ),
            test_case_metrics=read_rows.with_rows(
                tables.TEST_CASE_METRICS,
                read_table(run_root, tables.TEST_CASE_METRICS),
                read_rows.case_steadiness(steady, counted),
                read_rows.price_performance(run_root),
            ),
            usd_per_hour=read_rows.usd_per_hour(run_root),
            test_cases=test_cases,
        )

    @property
    def repetitions(self) -> int:
        return len({manifest.repetition for manifest in self.manifests})

    @property
    def emulated(self) -> frozenset[str]:
        """Disk types that an I/O limit emulates, and PMEM where memory stands in for persistent memory."""
        workers = [
            (t.variant.disk_type, node.disks)
            for t in self.topologies.values()
            for node in t.workers
        ]
        found = {disk_type for disk_type, disks in workers if any(disk.emulated for disk in disks)}
        tiers = [topology.levels.get("tier", "") for topology in self.topologies.values()]
        return frozenset({*found, *(PMEM for tier in tiers if is_emulated(tier))})

    @cached_property
    def without_read_ahead(self) -> frozenset[str]:
        """Topologies whose DataNodes do not read ahead from HDDs."""
        return without_read_ahead(self.manifests)

    @property
    def disclosures(self) -> dict[str, dict[str, Any]]:
        """The disclosure of each build that has one."""
        return {m.build: m.disclosure for m in self.manifests if m.disclosure}

    @cached_property
    def _disclosed(self) -> Mapping[str, dict[str, Any]]:
        """The last disclosure of each topology that has one: a trial that was skipped has none."""
        return {m.topology.name: m.disclosure for m in self.manifests if m.disclosure}

    def _of(self, one: TestCaseSummary, key: str) -> dict[str, Any]:
        found: dict[str, Any] = self._disclosed.get(one.topology, {}).get(key, {})
        return found

    def unexpected_differences(self, *topologies: str) -> tuple[Difference, ...]:
        """Unexpected differences between builds of these topologies; of all builds if none is named."""
        of_build = {m.build: m.topology for m in self.manifests}
        chosen = {
            build: disclosure
            for build, disclosure in self.disclosures.items()
            if not topologies or of_build[build].name in topologies
        }
        return unexpected_differences(
            chosen,
            {
                build: {"topology": t.name, "isolation": t.isolation, **self.variants[t.name]}
                for build, t in of_build.items()
            },
        )

    @cached_property
    def variants(self) -> dict[str, dict[str, str]]:
        """For each topology, all by which the study may make it differ; for existing clusters, what it says
        of them."""
        return {name: topology.declared for name, topology in sorted(self.topologies.items())}

    def incomparable_variants(
        self, first: TestCaseSummary, later: TestCaseSummary
    ) -> tuple[str, ...]:
        unequal = unequal_durability(self.variants[first.topology], self.variants[later.topology])
        different = self.unexpected_differences(first.topology, later.topology)
        return (*unequal, *map(str, different))

    def confounds(self, first: TestCaseSummary, later: TestCaseSummary) -> tuple[str, ...]:
        """In what two variants differ that is neither density nor disk_type: versions of existing clusters,
        hosts, and what `unequal_hosts` finds."""
        a, b = (self._of(one, "existing") for one in (first, later))
        versions = tuple(
            f"{name} {a.get(name)} and {b.get(name)}"
            for name in ("hadoop", "hbase")
            if a and b and a.get(name) != b.get(name)  # a side that discloses nothing is unknown
        )
        places = self.topologies[first.topology], self.topologies[later.topology]
        return (*versions, *self._unequal_facts(first, later), *unequal_hosts(*places))

    def unequal(self, first: TestCaseSummary, later: TestCaseSummary) -> tuple[str, ...]:
        """In what hosts differ that only one of two variants uses. A cluster is compared with all it is."""
        clusters = {one.levels.get("cluster") for one in (first, later)}
        return self._unequal_facts(first, later) if len(clusters) == 1 else ()

    def _unequal_facts(self, first: TestCaseSummary, later: TestCaseSummary) -> tuple[str, ...]:
        same_disks = first.disk_type == later.disk_type
        return unequal_facts(self._of(first, "facts"), self._of(later, "facts"), same_disks)

    def declared_between(self, first: TestCaseSummary, later: TestCaseSummary) -> tuple[str, ...]:
        """How the variants differ by what the study declares, and by what follows from that."""
        names = first.topology, later.topology
        a, b = (self.topologies[name] for name in names)
        return (
            *declared_changes(*(self.variants[name] for name in names)),
            *moved_along(a, b),
            *declared_changes(*map(self._javas, names)),
        )

    def _javas(self, topology: str) -> dict[str, str]:
        """Guests have those of their image, whatever their host has."""
        found = self._disclosed.get(topology, {}).get("stacks", {})
        return {
            f"stacks.{name}": str(found[name]) for name in ("java", "client_java") if name in found
        }


def labels(test_cases: Mapping[str, TestCase]) -> dict[str, str]:
    """A label for each test case's id, in display order. Test cases that differ only in size have the
    size in their label, so that all labels differ."""
    ordered = sorted(test_cases.items(), key=lambda item: (item[1].workload, item[1].sort_key))
    plain = {name: test_case.label for name, test_case in ordered}
    shared = Counter(plain.values())
    return {
        name: f"{plain[name]}, {test_case.size_label}" if shared[plain[name]] > 1 else plain[name]
        for name, test_case in ordered
    }
