"""summary.json: the numbers of a run from its tables, its manifests and its journal."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import yaml

from analysis import read_series, tables
from analysis.answer import answer
from analysis.capacity.run_plan import plan_beside
from analysis.caveats import caveats
from analysis.disclosure import merge
from analysis.findings import LEAST_BUILDS, Evidence, findings
from analysis.labels import labels
from analysis.monitor_cost import monitor_cost, sentence
from analysis.statistics.interval import mean_interval
from analysis.store import read_table
from analysis.summary import (
    BuildSummary,
    Metric,
    MetricName,
    SettingSummary,
    Summary,
    TrialSummary,
)
from analysis.time_spent import time_spent
from analysis.unequal import Difference, guests_are_emulated, unexpected
from cluster.atomic import write_text
from cluster.journal import Journal
from cluster.topology import Topology, topology_from_json
from workloads.hypotheses import read_hypotheses
from workloads.manifest import Manifest
from workloads.plan import read_plan
from workloads.record import closed_records
from workloads.settings import DfsioSetting, Setting

SUMMARY = "summary.json"
DATA_DOCS = "data_docs/index.html"
"""Great Expectations' pages, beside the report."""
_ORDER = {name: place for place, name in enumerate(get_args(MetricName))}


def write_summary(run_root: Path) -> Summary:
    """Summarise the run and write report/summary.json, whole or not at all."""
    summary = summarise(run_root, time.time())
    write_text(run_root / "report" / SUMMARY, summary.model_dump_json(indent=2) + "\n")
    return summary


def summarise(run_root: Path, now_s: float) -> Summary:
    """The summary of an analysed run, as of `now_s` (epoch). StudyError if a table is missing."""
    run = _Run.read(run_root)
    first = run.manifests[0]
    topologies = run.topologies
    blocks = len({manifest.block for manifest in run.manifests})
    trials = _trials(run)
    settings = _settings(run)
    cost = monitor_cost(run.trials, run.verdicts, run.metrics)
    evidence = Evidence(
        settings,
        blocks,
        first.isolation,
        _emulated(topologies.values()),
        any(guests_are_emulated(disclosure) for disclosure in run.disclosures.values()),
        run.unequal_arms,
    )
    found = findings(evidence, read_hypotheses(run_root / "study.yaml"))
    return Summary(
        study=first.study,
        run=first.run,
        question=_question(run_root / "study.yaml"),
        created=datetime.fromtimestamp(now_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        provider=next(iter(topologies.values())).provider,
        isolation=first.isolation,
        blocks=blocks,
        seed=first.seed,
        answer=answer(settings, blocks, first.isolation, len(trials), found),
        warnings=(
            *caveats(run.manifests, topologies.values(), trials, _planned(run_root), run.unequal()),
            *((sentence(cost),) if cost else ()),
        ),
        settings=settings,
        findings=found,
        trials=trials,
        builds=_builds(run_root),
        time=time_spent(
            list(Journal(run_root / "journal.jsonl").read()),
            sum(manifest.times_s.get("measure", 0.0) for manifest in run.manifests),
            now_s,
        ),
        disclosure=merge(run.disclosures),
        series=read_series.trial_series(run_root, [trial.trial for trial in trials]),
        data_docs=DATA_DOCS if (run_root / "report" / DATA_DOCS).is_file() else None,
        monitor_cost=cost,
        plan=plan_beside(run_root),
    )


@dataclass(frozen=True)
class _Run:
    """What the summary is made of, read once. `topologies` by name."""

    manifests: tuple[Manifest, ...]
    topologies: Mapping[str, Topology]
    labels: Mapping[str, str]
    settings: Mapping[str, Setting]
    trials: pd.DataFrame
    verdicts: pd.DataFrame
    metrics: pd.DataFrame
    setting_metrics: pd.DataFrame
    usd_per_hour: Mapping[str, float]

    @classmethod
    def read(cls, run_root: Path) -> _Run:
        closed = closed_records(run_root / "records")
        manifests = tuple(sorted(closed.values(), key=lambda manifest: manifest.order))
        topologies = [topology_from_json(manifest.topology) for manifest in manifests]
        trials = read_table(run_root, tables.TRIALS).sort_values("order")
        verdicts = read_table(run_root, tables.VERDICTS).set_index("trial")
        steady = read_series.steadiness(run_root)
        valid = trials[trials["trial"].map(verdicts["verdict"]) == "valid"]
        valid = valid[["trial", "topology", "setting", "block", "build"]]
        return cls(
            manifests=manifests,
            topologies={topology.name: topology for topology in topologies},
            labels=labels({m.setting_id: m.setting for m in manifests}),
            trials=trials,
            verdicts=verdicts,
            metrics=read_series.with_rows(
                tables.METRICS, read_table(run_root, tables.METRICS), steady
            ),
            setting_metrics=read_series.with_rows(
                tables.SETTING_METRICS,
                read_table(run_root, tables.SETTING_METRICS),
                read_series.setting_steadiness(steady, valid),
                read_series.price_performance(run_root),
            ),
            usd_per_hour=read_series.usd_per_hour(run_root),
            settings={m.setting_id: m.setting for m in manifests},
        )

    @property
    def disclosures(self) -> dict[str, dict[str, Any]]:
        """By build."""
        return {m.build: m.disclosure for m in self.manifests if m.disclosure}

    def unequal(self, *topologies: str) -> tuple[Difference, ...]:
        """Unexpected differences among the builds of these topologies; of all if none is named."""
        names = {m.build: str(m.topology["name"]) for m in self.manifests}
        chosen = {
            build: disclosure
            for build, disclosure in self.disclosures.items()
            if not topologies or names[build] in topologies
        }
        media = {build: str(self.topologies[name].medium) for build, name in names.items()}
        return unexpected(chosen, names, media)

    def unequal_arms(self, first: SettingSummary, later: SettingSummary) -> tuple[str, ...]:
        return tuple(map(str, self.unequal(first.topology, later.topology)))


def _trials(run: _Run) -> tuple[TrialSummary, ...]:
    metrics = {str(trial): rows for trial, rows in run.metrics.groupby("trial")}
    return tuple(
        TrialSummary(
            trial=row["trial"],
            order=row["order"],
            block=row["block"],
            build=row["build"],
            topology=row["topology"],
            vms_per_host=row["vms_per_host"],
            medium=row["medium"],
            setting=row["setting"],
            workload=row["workload"],
            state=row["state"],
            verdict=run.verdicts.loc[row["trial"], "verdict"],
            reasons=tuple(run.verdicts.loc[row["trial"], "reasons"]),
            measure_s=_number(row["measure_s"]),
            cost_pair=None if pd.isna(row["cost_pair"]) else int(row["cost_pair"]),
            monitored=bool(row["monitored"]),
            metrics=_metrics(metrics.get(row["trial"])),
            warm_up_s=_number(row["warm_up_s"]),
        )
        for row in run.trials.to_dict("records")
    )


def _settings(run: _Run) -> tuple[SettingSummary, ...]:
    """Every setting on every topology it was tried on, those without a valid trial included."""
    verdicts = run.trials["trial"].map(run.verdicts["verdict"])
    valid = run.trials[(verdicts == "valid") & run.trials["cost_pair"].isna()]
    builds = valid.groupby(["setting", "topology"])["build"].nunique().to_dict()
    keys = ["setting", "topology"]
    metrics = dict(iter(run.setting_metrics.groupby(keys)))
    tried = run.trials[[*keys, "workload"]].drop_duplicates().to_dict("records")
    place = {setting: number for number, setting in enumerate(run.labels)}
    entries = [
        _setting(run, row, builds.get(key, 0), metrics.get(key))
        for row in tried
        for key in [(row["setting"], row["topology"])]
    ]
    return tuple(
        sorted(entries, key=lambda e: (place[e.setting], e.medium, e.vms_per_host, e.topology))
    )


def _setting(
    run: _Run, row: Mapping[Any, Any], n_builds: int, metrics: pd.DataFrame | None
) -> SettingSummary:
    topology = run.topologies[row["topology"]]
    return SettingSummary(
        topology=topology.name,
        vms_per_host=topology.vms_per_host,
        regionservers_per_node=topology.regionservers_per_node,
        medium=topology.medium,
        setting=row["setting"],
        workload=row["workload"],
        label=run.labels[row["setting"]],
        n_builds=n_builds,
        usd_per_hour=run.usd_per_hour.get(topology.name),
        metrics=tuple(map(_with_interval, _metrics(metrics))),
        **_knobs(run.settings[row["setting"]]),
        neighbour=getattr(run.settings[row["setting"]], "neighbour", None),
    )


def _knobs(setting: Setting) -> dict[str, Any]:
    """What the fields of a SettingSummary call the setting's own knobs."""
    if isinstance(setting, DfsioSetting):
        return {"mode": setting.mode, "files": setting.files, "readers": setting.readers}
    return {
        "mode": setting.mix,
        "records": setting.records,
        "threads": setting.threads,
        "target_ops_s": setting.target_ops_s,
    }


def _with_interval(metric: Metric) -> Metric:
    """From 5 units on (method 2). The value is their median: the interval is made to hold it."""
    if len(metric.points) < LEAST_BUILDS or metric.value is None:
        return metric
    ends = mean_interval(metric.points)
    low, high = min(ends.low, metric.value), max(ends.high, metric.value)
    return metric.model_copy(update={"low": low, "high": high})


def _metrics(rows: pd.DataFrame | None) -> tuple[Metric, ...]:
    """Rows of `metrics` or `setting_metrics`, in the order of MetricName."""
    if rows is None:
        return ()
    found = [_metric(row) for row in rows.to_dict("records")]
    return tuple(sorted(found, key=_metric_place))


def _metric(row: Mapping[Any, Any]) -> Metric:
    return Metric(
        name=row["name"],
        value=_number(row["value"]),
        unit=row["unit"],
        operation=row["operation"],
        latency_kind=row["latency_kind"],
        percentile=_number(row["percentile"]),
        scope=row["scope"],
        n=row.get("n", 1),
        points=tuple(row.get("points", ())),
    )


def _metric_place(metric: Metric) -> tuple[int, str, str, float, str]:
    return (
        _ORDER[metric.name],
        metric.operation or "",
        metric.latency_kind or "",
        metric.percentile or 0.0,
        metric.scope or "",
    )


def _number(value: float | None) -> float | None:
    """pandas gives NaN for what a table holds as null; no table holds NaN."""
    return None if value is None or math.isnan(value) else float(value)


def _builds(run_root: Path) -> tuple[BuildSummary, ...]:
    rows = read_table(run_root, tables.BRING_UP)
    return tuple(
        BuildSummary(
            build=str(build),
            topology=phases["topology"].iloc[0],
            phases_s={
                str(phase): float(seconds)
                for phase, seconds in phases.groupby("phase", sort=False)["seconds"].sum().items()
            },
        )
        for build, phases in rows.groupby("build")
    )


def _emulated(topologies: Iterable[Topology]) -> frozenset[str]:
    return frozenset(t.medium for t in topologies for n in t.workers if n.disk and n.disk.emulated)


def _planned(run_root: Path) -> Sequence[str]:
    """Names of the trials the plan wanted; none for a run whose plan was not kept."""
    path = run_root / "plan.json"
    return [step.trial for step in read_plan(path).trials if step.trial] if path.exists() else []


def _question(path: Path) -> str | None:
    """The study's question, in its author's words."""
    if not path.exists():
        return None
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    return study.get("question") if isinstance(study, dict) else None
