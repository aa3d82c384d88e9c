"""The cluster of an imported trial: hosts and nodes by the map and the monitors' files, monitors, clocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from density_study.cluster.model.isolation import Isolation
from density_study.workloads.base.values import ClockOffset, MonitorRun, Window
from density_study.workloads.imports.built_trial import RecordFile
from density_study.workloads.imports.choose import Chosen, Knowledge
from density_study.workloads.imports.map_model import ImportMap, VariantEntry
from density_study.workloads.imports.piece import HOST_MONITORS, MONITORS
from density_study.workloads.record.recorded import (
    IMPORTED,
    UNKNOWN,
    RecordedHost,
    RecordedNode,
    RecordedTopology,
    RecordedVariant,
)

ONLY_VARIANT = "imported"
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?")


def host_of(knowledge: Knowledge, one: Chosen) -> str:
    """The host of a monitor's file, by the map or by the file. InputError if it is not one of the map's."""
    host = one.entry.host or one.piece.span.subject
    known = [entry.name for entry in knowledge.file.map.hosts]
    if not _HOST.fullmatch(host) or (known and host not in known):
        what = (
            f"{one.piece.file} is of the host {host!r}"
            if host
            else f"{one.piece.file} names no host"
        )
        remedy = f"name it: {{file: {one.piece.file}, host: {known[0] if known else 'node1'}}}."
        if known:
            what += f", which is not one of {', '.join(known)}"
        raise knowledge.fault(f"{what}.", remedy, *one.key)
    return host


def topology(map_: ImportMap, variant_name: str | None, seen: Sequence[str]) -> RecordedTopology:
    """seen: hosts with a monitor's file in a trial of the variant; they count where the map names no
    hosts."""
    variant = map_.variants[variant_name] if variant_name is not None else VariantEntry()
    hosts = tuple(
        RecordedHost(entry.name, entry.cores, entry.memory, entry.usd_per_hour, entry.roles)
        for entry in map_.hosts
    ) or tuple(RecordedHost(name) for name in sorted(set(seen)))
    nodes = tuple(
        RecordedNode(node.name, node.host, node.roles, node.cores, node.memory)
        for node in variant.nodes
    ) or tuple(
        RecordedNode(host.name, host.name, host.roles, host.cores, host.memory_mib)
        for host in hosts
    )
    return RecordedTopology(
        provider=IMPORTED,
        name=variant_name or ONLY_VARIANT,
        isolation=_isolation(variant.vms_per_host),
        variant=RecordedVariant(
            variant.disk_type or UNKNOWN, variant.vms_per_host, variant.regionservers_per_node
        ),
        replication=variant.replication,
        hosts=hosts,
        nodes=nodes,
    )


def _isolation(vms_per_host: int | None) -> Isolation:
    if vms_per_host is None:
        return Isolation.UNKNOWN
    return Isolation.VM if vms_per_host else Isolation.HOST


def monitors(
    knowledge: Knowledge, pieces: Sequence[Chosen], window: Window | None
) -> tuple[tuple[MonitorRun, ...], tuple[RecordFile, ...]]:
    """The monitors and their files. InputError for two monitors of one host, for local times without a zone,
    and for a file that does not touch the window."""
    runs, files = [], []
    of_host: dict[tuple[str, str], str] = {}
    for one in pieces:
        if one.piece.kind not in MONITORS:
            continue
        host, facts = host_of(knowledge, one), one.piece.span
        family = "host" if one.piece.kind in HOST_MONITORS else one.piece.kind
        if (host, family) in of_host:
            raise knowledge.fault(
                f"{host} has two monitors in one trial: {of_host[host, family]} and "
                f"{one.piece.file}.",
                "remove one of the files.",
                *one.key,
            )
        of_host[host, family] = one.piece.file
        if facts.local or facts.since_s is None or facts.until_s is None:
            raise knowledge.fault(
                f"{one.piece.file} has local times of an unknown time zone.",
                "give time_zone, for the file or for the map.",
                *one.key,
            )
        if window and (facts.until_s < window.start_epoch_s or facts.since_s > window.end_epoch_s):
            raise knowledge.fault(
                f"{one.piece.file} has no sample in the trial's window: it covers "
                f"{facts.since_s:.0f} to {facts.until_s:.0f} (epoch seconds), and the window is "
                f"{window.start_epoch_s:.0f} to {window.end_epoch_s:.0f}.",
                "check time_zone and window, or remove the file.",
                *one.key,
            )
        path = f"monitor/{host}.{one.piece.kind}.csv"
        files.append(RecordFile(path, one.piece.file, one.piece.lines))
        zone = one.entry.time_zone or knowledge.file.map.time_zone or ""
        runs.append(
            MonitorRun(
                kind=one.piece.kind,
                host=host,
                file=path,
                period_s=facts.period_s,
                started_epoch_s=facts.since_s,
                stopped_epoch_s=facts.until_s,
                time_zone=zone if one.piece.kind in HOST_MONITORS else "",
            )
        )
    return tuple(runs), tuple(files)


def clocks(knowledge: Knowledge, runs: Sequence[MonitorRun]) -> tuple[ClockOffset, ...]:
    """Clock offsets that the map gives. For every other monitored host they are unknown."""
    offsets = {entry.name: entry.clock_offset for entry in knowledge.file.map.hosts}
    monitored = {run.host for run in runs}
    if monitored:
        known = all(offsets.get(host) is not None for host in monitored)
        knowledge.note("clocks of the hosts", known or None)
    return tuple(
        ClockOffset(host=host, before_s=offset, after_s=offset, method="given by the map")
        for host, offset in offsets.items()
        if offset is not None
    )
