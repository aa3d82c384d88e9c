"""Carries a search on: chooses the load of its next probe from the records of those before, and judges a
probe by its record.

Both are functions of the records, and a killed run resumes the same search.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.events import SearchEnded
from density_study.workloads.base.evidence import SUSTAINED
from density_study.workloads.base.search import Ended, Probe, Search, next_probe
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.saturation import rate_of, saturation
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import is_closed, read_manifest

if TYPE_CHECKING:  # numpy is for the analysis
    from density_study.workloads.base.rows import Rows


def prepared(run: Run, step: Step) -> tuple[Step, Probe] | Ended:
    """The step with the test case as its probe runs it, or the end of its search, which spares its other
    probes. StudyError if the first load is unknown, or no load can be run."""
    search = _search(step)
    probe = _next(run, step, search)
    if isinstance(probe, Ended):
        probes = run.plan.probes(step.build, _id(step))
        spared = tuple(str(each.trial) for each in probes if each.index >= step.index)
        answer = probe.answer.load if probe.answer else None
        run.journal.record(
            SearchEnded(
                build=step.build, test_case=_id(step), answer=answer, why=probe.why, spared=spared
            )
        )
        return probe
    assert step.test_case is not None
    try:
        test_case = step.test_case.at_probe(probe)
    except InputError as error:
        raise StudyError(error.what, error.where, error.remedy) from error
    return step.model_copy(update={"test_case": test_case}), probe


def judged(manifest: Manifest, record: Path) -> Probe:
    """The manifest's probe with what it measured, and whether its load is kept. Without a result, `why`
    says what is missing."""
    from density_study.workloads.rows.record_rows import record_rows  # pyarrow

    probe, search = manifest.probe, manifest.test_case.sought
    assert probe is not None and search is not None
    rows = record_rows(manifest, record)
    try:
        rate = rate_of(rows)
    except StudyError as error:
        return probe.model_copy(update={"why": error.what})
    found = probe.model_copy(update={"rate_ops_s": rate})
    if search.of_threads:
        return _of_threads(found, rate)
    if rate + manifest.test_case.last_turns_ops_s < SUSTAINED * probe.load:
        why = f"{rate:,.0f} ops/s are {rate / probe.load:.1%} of {probe.load:,.0f}, less than 98 %"
        return found.model_copy(update={"kept": False, "why": why})
    return _within_limits(search, found, rows)


def _search(step: Step) -> Search:
    if step.test_case is None or step.test_case.sought is None:
        raise ValueError(f"step {step.index} is not a probe")
    return step.test_case.sought


def _id(step: Step) -> str:
    return step.test_case.id if step.test_case else ""


def _next(run: Run, step: Step, search: Search) -> Probe | Ended:
    before = [
        manifest.probe
        for each in run.plan.probes(step.build, _id(step))
        if each.index < step.index and is_closed(run.records / str(each.trial))
        if (manifest := read_manifest(run.records / str(each.trial))).probe is not None
    ]
    first, because = (0.0, "") if before else _first(run, step, search)
    found = next_probe(search, before, first)
    if isinstance(found, Ended):
        return found
    kept = [probe.rate_ops_s for probe in before if probe.kept and probe.rate_ops_s]
    least_gain = 1 + (search.gain_percent or 0.0) / 100
    return Probe(
        number=step.probe or 0,
        load=found.load,
        stretch=found.stretch,
        because=because or found.because,
        to_beat_ops_s=least_gain * max(kept) if search.of_threads and kept else None,
    )


def _first(run: Run, step: Step, search: Search) -> tuple[float, str]:
    """Load of the first probe, and why."""
    if search.of_threads:
        return float(search.start_threads or 1), "the least of the study's threads"
    if search.start_percent is None:
        return float(search.start_ops_s or 1), "the start that the study names"
    assert step.test_case is not None
    trial, ops_s = saturation(
        step.test_case, run.plan.measuring_for(step.test_case, step.build), run.records
    )
    share = f"{search.start_percent:g} % of the saturation of {ops_s:,.0f} ops/s in {trial}"
    return ops_s * search.start_percent / 100, share


def _of_threads(probe: Probe, rate: float) -> Probe:
    if probe.to_beat_ops_s is None:
        return probe.model_copy(update={"kept": True, "why": f"{rate:,.0f} ops/s, to be exceeded"})
    kept = rate >= probe.to_beat_ops_s
    words = "at least" if kept else "less than"
    why = f"{rate:,.0f} ops/s, {words} the {probe.to_beat_ops_s:,.0f} that are worth the threads"
    return probe.model_copy(update={"kept": kept, "why": why})


def _within_limits(search: Search, probe: Probe, rows: Rows) -> Probe:
    """Compare with every limit; one that is exceeded rejects the load, one that is unknown leaves it open."""
    from density_study.workloads.monitors.facts import cluster_used_percent
    from density_study.workloads.ycsb.facts.latency import intended_ms

    latency_ms: dict[str, float] = {}
    exceeded: list[str] = []
    unknown: list[str] = []
    within: list[str] = []
    for limit in search.limits:
        name = f"{limit.operation} p{limit.percentile:g}"
        ms = intended_ms(rows, limit.operation, limit.percentile)
        if ms is None:
            unknown.append(f"too few operations for {name}: use a longer duration")
            continue
        latency_ms[name] = ms
        (exceeded if ms > limit.ms else within).append(
            f"{name} {_shown(ms)} ms, limit {limit.ms:g} ms"
        )
    cpu = None
    if search.cpu_percent is not None:
        cpu = cluster_used_percent(rows)
        if cpu is None:
            unknown.append("no monitor shows the CPU use of the cluster's hosts")
        else:
            words = f"CPU {cpu:.0f} %, limit {search.cpu_percent:g} %"
            (exceeded if cpu > search.cpu_percent else within).append(words)
    return probe.model_copy(
        update={
            "latency_ms": latency_ms,
            "cpu_percent": cpu,
            "kept": False if exceeded else None if unknown else True,
            "why": "; ".join(exceeded or unknown or within),
        }
    )


def _shown(ms: float) -> str:
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.3g}"
