"""The summary's warnings: what limits how far a run's numbers can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from density_study.analysis.findings import MIN_BUILDS
from density_study.analysis.summarise.analysed_run import AnalysedRun
from density_study.analysis.summarise.comparability import (
    MAX_NAMED,
    comparability_warnings,
    unequal_hosts,
)
from density_study.analysis.summarise.first_break import first_breaks
from density_study.analysis.summarise.imports import import_warnings
from density_study.analysis.summarise.monitoring_overhead import sentence
from density_study.analysis.summarise.read_ahead import read_ahead_warnings
from density_study.analysis.summarise.software import quick_compilers, store_cautions
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import (
    ImportSummary,
    MonitoringOverhead,
    SummaryWarning,
    TrialSummary,
)
from density_study.cluster.model.isolation import Isolation, isolation_of
from density_study.cluster.model.plain import counted
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.versions import numbers
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.recorded import RecordedTopology, is_joined
from density_study.workloads.study.factors.tier import PMEM

SHORT_S = 60.0
"""HBase flushes and compacts every few minutes, and a few collections of garbage decide a p99 of seconds."""


def warnings(
    run: AnalysedRun,
    trials: Sequence[TrialSummary],
    planned: Iterable[str],
    costs: Sequence[MonitoringOverhead],
    earlier: Mapping[str, Sequence[Manifest]],
    imported: ImportSummary | None = None,
    uncopied: Iterable[str] = (),
) -> tuple[SummaryWarning, ...]:
    """The most serious first. `planned`: names of the trials in the plan. `earlier`: attempts of a trial
    before its record, oldest first. `uncopied`: sentences about tables without a copy."""
    isolation = isolation_of(topology.isolation for topology in run.topologies.values())
    return (
        *import_warnings(imported, trials),
        *_existing_cluster(run),
        *store_cautions(run.manifests),
        *_missing_records(trials, planned),
        *repetition_warnings(earlier),
        *trial_warnings(trials),
        *design_warnings(isolation, run.emulated, run.repetitions),
        *read_ahead_warnings(run.without_read_ahead),
        *_shared_client_host(run.topologies.values()),
        *quick_compilers(run.topologies.values()),
        *_memory(run.manifests),
        *short_trials(trials),
        *comparability_warnings(run.unexpected_differences()),
        *unequal_hosts(run.disclosures.values()),
        *map(_overhead, costs),
        *first_breaks(run.manifests),
        *(SummaryWarning(code="no-table-copy", level="info", message=one) for one in uncopied),
    )


def _existing_cluster(run: AnalysedRun) -> Iterator[SummaryWarning]:
    existing = [topology for topology in run.topologies.values() if is_joined(topology)]
    if not existing:
        return
    seen = [one.disclosure.get("existing", {}) for one in run.manifests]
    unseen = any(facts.get("unwatched", ["?"]) for facts in seen)
    cpu = "CPU use of its hosts (the client's CPU is that of this machine), " if unseen else ""
    is_store = any("store" in facts for facts in seen)
    daemons, others = (
        ("its servers", "The load of others is unknown.")
        if is_store
        else (
            "daemons of HDFS and YARN",
            "The load of others is counted around each trial, and a trial with such a load is flagged.",
        )
    )
    claims = (
        "A claim about density or disk types rests on what the study declares about its clusters."
        if any(len(run.variants[topology.name]) > 1 for topology in existing)
        else "Nothing here is a claim about density or disk types."
    )
    yield SummaryWarning(
        code="existing-cluster",
        message=f"This program did not build the cluster. Unknown: {cpu}the content of its page caches, "
        f"and whether {daemons} restarted. {others}",
        remedy=f"Measure when others are idle. {claims}",
    )
    yield from _other_clients(seen)
    yield from _unexported(run)
    quotas = sorted({one for facts in seen for one in facts.get("hbase_quotas") or ()})
    if quotas:
        yield SummaryWarning(
            code="existing-quotas",
            message=f"HBase has quotas for the study's user, which may limit its rates: "
            f"{'; '.join(quotas)}.",
            remedy="Ask the cluster's administrators to lift them, or read the rates as those within quotas.",
        )


def _unexported(run: AnalysedRun) -> Iterator[SummaryWarning]:
    told = [one.exported for one in run.manifests if one.exported]
    if faults := sorted({fault for one in told for fault in one.faults}):
        more = f" and {len(faults) - 3} more" if len(faults) > 3 else ""
        count = sum(bool(one.faults) for one in told)
        yield SummaryWarning(
            code="prometheus",
            level="info",
            message=f"In {count} of {len(told)} trials, something that Prometheus should have counted is "
            f"unknown: {'; '.join(faults[:3])}{more}.",
            remedy="Look at existing.prometheus, and at its scrape interval: a trial must last several.",
        )


def _other_clients(seen: Iterable[Mapping[str, Any]]) -> Iterator[SummaryWarning]:
    """Clients have a version that this project knows, whatever an existing cluster has."""
    facts = list(seen)
    for name, whose in (
        ("HBase", "YCSB's client of HBase"),
        ("Hadoop", "TestDFSIO and its client"),
    ):
        key = name.lower()
        pairs = {(one.get(key), one.get(f"{key}_client")) for one in facts}
        differ = sorted((a, b) for a, b in pairs if a and b and numbers(a) != numbers(b))
        if differ:
            named = "; ".join(f"{name} {server}, client {client}" for server, client in differ)
            yield SummaryWarning(
                code=f"{key}-client-version",
                message=f"{whose} has another version than the cluster's own client, which may be faster or "
                f"slower: {named}.",
            )


def trial_warnings(trials: Sequence[TrialSummary]) -> Iterator[SummaryWarning]:
    """Trials that no statistic uses, and valid ones with warnings."""
    verdicts = Counter(trial.verdict for trial in trials if not trial.counted)
    excluded = [f"{verdicts[name]} {name}" for name in ("invalid", "unknown") if verdicts[name]]
    if excluded:
        yield SummaryWarning(
            code="excluded-trials",
            message=f"{verdicts.total()} of {len(trials)} trials are excluded from "
            f"all statistics: {' and '.join(excluded)}.",
            remedy="See the reasons under Validity and trials.",
        )
    valid = [trial for trial in trials if trial.verdict == "valid"]
    flagged = [trial for trial in valid if trial.reasons]
    if flagged:
        # a flag's reason begins with its name; a trial counts once for each flag
        flags = Counter(f for t in flagged for f in {why.partition(":")[0] for why in t.reasons})
        named = ", ".join(f"{flag} {count}" for flag, count in sorted(flags.items()))
        have = "valid trial has warnings" if len(flagged) == 1 else "valid trials have warnings"
        yield SummaryWarning(
            code="flagged-trials",
            message=f"{len(flagged)} of {len(valid)} {have} ({named}). Their numbers count.",
            remedy="See what each warning means under Validity and trials.",
        )


def repetition_warnings(earlier: Mapping[str, Sequence[Manifest]]) -> Iterator[SummaryWarning]:
    """Trials that were measured more than once: results must not be chosen among attempts."""
    if not earlier:
        return
    named = [
        f"{trial} ({', '.join(attempt.state for attempt in attempts)})"
        for trial, attempts in list(earlier.items())[:MAX_NAMED]
    ]
    more = "; ..." if len(earlier) > MAX_NAMED else ""
    cut_short = {attempt.state for attempts in earlier.values() for attempt in attempts} == {
        "incomplete"
    }
    yield SummaryWarning(
        code="measured-again",
        level="info" if cut_short else "warning",
        message=f"Measured again: {counted(len(earlier), 'trial')}. The newest attempt counts, whatever its "
        f"result. Earlier attempts: {'; '.join(named)}{more}.",
        remedy="Compare them in records.superseded/ of the run.",
    )


def design_warnings(
    isolation: Isolation, emulated: Iterable[str], repetitions: int
) -> Iterator[SummaryWarning]:
    """Limits that follow from the study's design, known before any trial ran."""
    nodes = isolation.facts
    if nodes.only_stands_in:
        yield SummaryWarning(
            code="process-nodes",
            message="Nodes are process groups on one machine and only stand in "
            "for VMs, so this run supports no claim about VMs. It can compare versions, settings and stores.",
            remedy="Use provider libvirt to compare VMs.",
        )
    elif nodes.stand_in:
        yield SummaryWarning(
            code=f"{isolation}-nodes",
            level="info",
            message=f"Nodes are {nodes.noun}s, which share one kernel: findings are about "
            f"{nodes.noun}s, and none about VMs.",
            remedy="Use provider libvirt to compare VMs.",
        )
    for disk_type in sorted(emulated):
        pmem = disk_type == PMEM
        how = "memory of the host (tmpfs)" if pmem else "an I/O limit"
        yield SummaryWarning(
            code="emulated-disk",
            subject=disk_type,
            message=f"The disk type {disk_type} is emulated by {how} and supports no claim.",
            remedy=None if pmem else "Give the study a real disk of this kind.",
        )
    if repetitions < MIN_BUILDS:
        yield SummaryWarning(
            code="few-repetitions",
            message=f"{counted(repetitions, 'repetition')}: single values without intervals, so no claims.",
            remedy=f"Run at least {MIN_BUILDS} repetitions.",
        )


def _missing_records(
    trials: Sequence[TrialSummary], planned: Iterable[str]
) -> Iterator[SummaryWarning]:
    missing = sorted(set(planned) - {trial.trial for trial in trials})
    if missing:
        more = ", ..." if len(missing) > MAX_NAMED else ""
        yield SummaryWarning(
            code="missing-records",
            message=f"{counted(len(missing), 'planned trial')} left no record: "
            f"{', '.join(missing[:MAX_NAMED])}{more}.",
            remedy="Resume the run with `study run`.",
        )


def _shared_client_host(
    topologies: Iterable[RecordedTopology | Topology],
) -> Iterator[SummaryWarning]:
    if any(
        client is not None
        and set(client.roles) == {"client"}
        and client.host in {node.host for node in workers}
        for client, workers in ((t.client, t.workers) for t in topologies)
    ):
        yield SummaryWarning(
            code="shared-client-host",
            level="info",
            message="The client runs on a host of the cluster. Its CPU is reported separately, and the "
            "numbers of the host without client and monitors leave out both.",
        )


def _memory(manifests: Sequence[Manifest]) -> Iterator[SummaryWarning]:
    """Method 5: a data set smaller than RAM may be served from memory."""
    ratios = [
        manifest.data_set_mib / manifest.total_ram_mib
        for manifest in manifests
        if manifest.data_set_mib and manifest.total_ram_mib
    ]
    small = [ratio for ratio in ratios if ratio < 1]
    if small:
        shares = dict.fromkeys(f"{digits(100 * ratio)} %" for ratio in (min(small), max(small)))
        yield SummaryWarning(
            code="data-fits-in-memory",
            message="Data may be served from memory: the data set is "
            f"{' to '.join(shares)} of RAM in {len(small)} of {len(manifests)} trials. "
            "TestDFSIO reads are checked against bytes read from disk; YCSB reads are not.",
            remedy="Load more data than the hosts have RAM.",
        )


def short_trials(trials: Sequence[TrialSummary]) -> Iterator[SummaryWarning]:
    """Half of the valid trials, or more, end before a server's rare and slow work begins."""
    measured_s = sorted(
        trial.measure_s for trial in trials if trial.verdict == "valid" and trial.measure_s
    )
    if measured_s and median(measured_s) < SHORT_S:
        lengths = dict.fromkeys(f"{seconds:.0f}" for seconds in (measured_s[0], measured_s[-1]))
        yield SummaryWarning(
            code="short-trials",
            message=f"Trials measured for {' to '.join(lengths)} s each. That is too "
            "short for flushes, compactions, long garbage collections and slow drift to show.",
            remedy="Use larger files and more records, and a duration of minutes.",
        )


def _overhead(cost: MonitoringOverhead) -> SummaryWarning:
    return SummaryWarning(
        code="monitoring-overhead", level="info", subject=cost.test_case, message=sentence(cost)
    )
