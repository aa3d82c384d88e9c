"""A trial's window as the cluster's Prometheus saw it, read when the trial is over."""

from __future__ import annotations

import re
from dataclasses import dataclass

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.providers.existing.prometheus import instances_of, lead_s, scraped
from density_study.cluster.providers.existing.watched import unwatched
from density_study.cluster.state import atomic
from density_study.workloads.base.values import ExportedFile, ExportedSeries
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.monitors.prometheus.exported import JMX, Telling, queries

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,200}")
"""The form of a host's name, which is part of the names of its files."""
EARLIER_S = 120.0
"""Time before the trial in which the first sample may lie: increases of counters begin there."""


@dataclass(frozen=True)
class Moment:
    context: TrialContext
    epoch_s: float


def _hosts(cluster: Cluster, existing: ExistingCluster) -> list[str]:
    """Without those that the study watches itself, each second."""
    daemons = [name.partition("/")[0] for name in cluster.endpoints.all("others.jmx")]
    every = existing.endpoint.hosts if existing.endpoint else list(dict.fromkeys(daemons))
    return unwatched(existing, every) if existing.watched else every


def exported_between(before: Moment, after: Moment) -> ExportedSeries | None:
    """Writes a file of each device and host into the record. Whatever is missing is a fault, and unknown: a
    trial is measured without it. None: no Prometheus is named."""
    context = before.context
    existing = context.cluster.topology.existing
    if existing is None or existing.prometheus is None:
        return None
    server, record = existing.prometheus, context.record
    hosts = [host for host in _hosts(context.cluster, existing) if _NAME.fullmatch(host)]
    faults: list[str] = []
    files: list[ExportedFile] = []
    lead = error = None
    try:
        instances = instances_of(server, hosts) if hosts else {}
        lead, error = lead_s(server)
        telling = Telling(instances)
        polled = any(record.monitor.glob(f"*.{JMX}.csv"))
        for asked in queries(instances, jmx=not polled) if instances else ():
            try:
                begun_s, ended_s = before.epoch_s - EARLIER_S + lead, after.epoch_s + lead
                answer = scraped(server, asked.selector, begun_s, ended_s)
            except StudyError as fault:
                faults.append(f"{asked.device}: {fault.what}")
                continue
            telling.add(asked, answer)
        for device, host, period_s, text in telling.files(lead):
            name = f"{host}.prometheus-{device}.csv"
            atomic.write_text(record.monitor / name, text)
            files.append(
                ExportedFile(device=device, host=host, file=f"monitor/{name}", period_s=period_s)
            )
    except StudyError as fault:
        faults.append(fault.what)
    told = {file.host for file in files}
    faults += [
        f"{host}: nothing was scraped twice" for host in hosts if host not in told and not faults
    ]
    return ExportedSeries(
        url=server.url,
        clock_lead_s=lead,
        clock_error_s=error,
        files=tuple(files),
        faults=tuple(dict.fromkeys(faults)),
    )
