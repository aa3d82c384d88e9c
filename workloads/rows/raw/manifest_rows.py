"""Convert the manifests of a run into rows of the small tables. Pure; runs on the driver.

A manifest has kilobytes, and a run has hundreds of them, so Spark's executors are not needed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from density_study.cluster.model.errors import StudyError
from density_study.workloads.base.values import FIRST_TURN_AFTER_S, ClientRun, GuestCpu
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.record.recorded import ImportedClient, is_joined
from density_study.workloads.rows.raw.counter_rows import hdfs_row, request_row
from density_study.workloads.rows.raw.trial_context import (
    clock_offsets,
    host_of_client,
    node_scopes,
)
from density_study.workloads.ycsb.warming.warmth import WARMTH

Row = dict[str, Any]
_OF_MANIFEST = ("trial", "study", "run", "repetition", "order", "build", "seed", "state", "isolation",
                "overhead_pair", "monitored", "overhead_of", "data_set_mib", "total_ram_mib")  # fmt: skip
_OF_VARIANT = ("disk_type", "vms_per_host", "regionservers_per_node")
_OF_COLD = ("evicted_bytes", "distinct_bytes_asked", "physical_read_bytes", "physical_write_bytes")


def manifests_of(run_root: Path) -> tuple[Manifest, ...]:
    """Manifests of the run's closed records, in the order of execution.

    StudyError for a run without records, and for a damaged manifest or one with an unknown format.
    """
    records = run_root / "records"
    manifests = closed_records(records)
    if not manifests:
        raise StudyError(
            "the run has no closed record to analyse.",
            str(records),
            "finish the run first; `study status` shows the command.",
        )
    for folder, manifest in manifests.items():
        if manifest.trial != folder:
            raise StudyError(
                f"the manifest in this folder belongs to the trial {manifest.trial!r}.",
                str(records / folder),
                "restore the record, or remove it.",
            )
    return tuple(sorted(manifests.values(), key=lambda manifest: (manifest.order, manifest.trial)))


def trial_row(manifest: Manifest, answers: Collection[str] = ()) -> Row:
    """A row of `trials`. answers: the trials that are the answers of the run's searches."""
    topology = manifest.topology
    window, turns = manifest.window, manifest.turns
    test_case = manifest.test_case
    return {
        **_fields(manifest, _OF_MANIFEST),
        "overhead_on": _overhead_on(manifest),
        "state_reasons": list(manifest.reasons),
        "imported": manifest.imported is not None,
        "accepted": sorted(manifest.imported.accepted) if manifest.imported else [],
        **_of_existing(manifest),
        **cache_row(manifest),
        **network_row(manifest),
        "probe": manifest.probe.number if manifest.probe else None,
        "probe_kept": manifest.probe.kept if manifest.probe else None,
        **_of_fault(manifest),
        "studied": manifest.overhead_pair is None
        and (manifest.probe is None or manifest.trial in answers),
        "topology": topology.name,
        "provider": str(topology.provider),
        "replication": topology.replication,
        **_fields(topology.variant, _OF_VARIANT),
        "levels": list(topology.levels.values()),
        "disk_type_emulated": any(n.disk.emulated for n in topology.workers if n.disk is not None),
        "hosts": len(topology.occupied),
        "usd_per_hour": _price(host.usd_per_hour for host in topology.occupied),
        "workers": len(topology.workers),
        "test_case": manifest.test_case_id,
        **test_case.table_row(),
        "warm_up_s": test_case.cut_s,
        "rested_s": turns.own_s + FIRST_TURN_AFTER_S if turns else None,  # the other works as long
        "window_start_epoch_s": window.start_epoch_s if window else None,
        "window_end_epoch_s": window.end_epoch_s if window else None,
        "prepare_s": manifest.times_s.get("prepare"),
        "measure_s": manifest.times_s.get("measure"),
        "settle_s": manifest.times_s.get("settle"),
        "cold_method": manifest.cold.method if manifest.cold else None,
        **_fields(manifest.cold, _OF_COLD),
        "compactions": _counted(manifest, "compactions"),
        "splits": _counted(manifest, "splits"),
        **{name: manifest.state_before.get(name) for name in WARMTH},
        **request_row(manifest),
        **hdfs_row(manifest),
    }


def _overhead_on(manifest: Manifest) -> bool | None:
    """Whether what the trial's overhead pair is about ran; None without a pair."""
    if manifest.overhead_pair is None or manifest.overhead_of is None:
        return None if manifest.overhead_pair is None else manifest.monitored
    return manifest.overhead_of in {monitor.kind for monitor in manifest.monitors}


def _of_fault(manifest: Manifest) -> Row:
    fault, window = manifest.fault, manifest.window
    rows = manifest.state_after.get("rows", {})
    return {
        "fault": fault.what if fault else None,
        "fault_s": fault.epoch_s - window.start_epoch_s if fault and window else None,
        "rows_acknowledged": rows.get("acknowledged"),
        "rows_found": rows.get("found"),
    }


def _of_existing(manifest: Manifest) -> Row:
    others = manifest.others
    per_s = 1.0 / others.seconds if others else 0.0
    gone = others.regionservers_gone if others else None
    unwatched = manifest.disclosure.get("existing", {}).get("unwatched")
    requests, vcore_s = (others.hbase_requests, others.yarn_vcore_s) if others else (None, None)
    return {
        "existing": is_joined(manifest.topology),
        "others_requests_s": None if requests is None else requests * per_s,
        "others_vcores": None if vcore_s is None else vcore_s * per_s,
        "regionservers_gone": None if gone is None else len(gone),
        "hosts_unseen": None if unwatched is None else len(unwatched),
    }


def cache_row(manifest: Manifest) -> Row:
    """The part of a row of `trials` that is about block caches."""
    # a daemon that was killed took its counters along
    caches = manifest.caches if manifest.fault is None else None
    engines = list(caches.engines.values()) if caches else []
    told = [one for one in engines if one is not None]
    counters = ("l1_hits", "l1_misses", "l2_hits", "l2_misses")
    foreign = sum(one != caches.declared for one in told) if caches else 0
    return {
        "tier": caches.declared if caches else None,
        "tiers_in_use": ", ".join(sorted(set(told))) or None,
        # one that is foreign is enough; one that did not tell may be
        "foreign_tiers": foreign if foreign or (told and len(told) == len(engines)) else None,
        # a load reads nothing
        "reads_tier": caches is not None
        and caches.declared is not None
        and not getattr(manifest.test_case, "is_load", False),
        **_fields(caches, counters),
        "cache_evictions": caches.evictions if caches else None,
    }


def network_row(manifest: Manifest) -> Row:
    """The part of a row of `trials` that is about the network of the build, where that is a factor."""
    proofs = manifest.disclosure.get("network", {}).get("measured", [])
    broken = [one for one in proofs if one["holds"] is False]
    known = proofs and all(one["holds"] is not None for one in proofs)
    shown = broken or [one for one in proofs if one["declared"] is not None]
    return {
        "network": manifest.topology.levels.get("network"),
        "network_broken": len(broken) if broken or known else None,
        "network_seen": "; ".join(map(_proof, shown)) or None,
    }


def _proof(proof: Mapping[str, Any]) -> str:
    """rate 91 Mbit/s instead of 100."""
    seen, unit = proof["measured"], proof["unit"]
    found = proof["why"] if seen is None else f"{seen:g} {unit}"
    return f"{proof['what']} {found}, {proof['declared']:g} declared"


def _fields(value: object, names: Sequence[str]) -> Row:
    """The fields `names`; all None for None."""
    return {name: getattr(value, name) if value else None for name in names}


def _price(prices: Iterable[float | None]) -> float | None:
    """Price of all hosts per hour; None unless every host has a price."""
    known = list(prices)
    return math.fsum(price for price in known if price) if known and None not in known else None


def _counted(manifest: Manifest, what: str) -> int | None:
    """Increase of HBase's counter `what` over the window. Another store counts all of its background work
    as compactions: it has no splits."""
    if "store" in manifest.state_before:
        if what == "splits":
            return 0
        before = manifest.state_before["store"].get("background_runs")
        after = manifest.state_after.get("store", {}).get("background_runs")
        return int(after - before) if before is not None and after is not None else None
    before = manifest.state_before.get("hbase", {}).get(what)
    after = manifest.state_after.get("hbase", {}).get(what)
    return int(after - before) if before is not None and after is not None else None


def node_rows(manifest: Manifest) -> Iterator[Row]:
    """Rows of `nodes`."""
    host_cores = {host.name: host.cores for host in manifest.topology.hosts}
    guests = {guest.node: guest for guest in manifest.guests}
    scopes = node_scopes(manifest)
    for node in manifest.topology.nodes:
        guest, cores = guests.get(node.name), host_cores[node.host]
        yield {
            "trial": manifest.trial,
            "node": node.name,
            "host": node.host,
            "scope": scopes[node.name],
            "roles": list(node.roles),
            "cores": node.cores,
            "host_cores": cores,
            "memory_mib": node.memory_mib,
            "host_cpu_share_percent": _percent(guest, guest.cpu_s if guest else None, cores),
            "throttled_percent": _percent(guest, guest.waited_s if guest else None, cores)
            if manifest.isolation.facts.by_quota
            else None,
        }


def _percent(guest: GuestCpu | None, seconds: float | None, cores: int | None) -> float | None:
    if guest is None or seconds is None or cores is None:
        return None
    return 100.0 * seconds / ((guest.to_epoch_s - guest.from_epoch_s) * cores)


def client_rows(manifest: Manifest) -> Iterator[Row]:
    """Rows of `clients`."""
    offsets = clock_offsets(manifest.clock)
    for client in manifest.clients:
        yield {
            "trial": manifest.trial,
            "client": client.name,
            "node": client.node if isinstance(client, ClientRun) else None,
            "exit_code": client.exit_code,
            "start_epoch_s": client.start_epoch_s,
            "end_epoch_s": client.end_epoch_s,
            "begin_epoch_s": getattr(client, "begin_epoch_s", None),
            "clock_offset_s": offsets.get(host_of_client(manifest, client) or ""),
            "operations_asked": _operations_asked(client.argv)
            if isinstance(client, ClientRun)
            else client.operations_asked,
            "threads": _threads(manifest, client),
        }


def _threads(manifest: Manifest, client: ClientRun | ImportedClient) -> int | None:
    """Threads of one client; of a record that others made, all clients have the same number."""
    if not isinstance(client, ClientRun):
        return getattr(manifest.test_case, "threads", None)
    given = next((value for flag, value in pairwise(client.argv) if flag == "-threads"), "")
    return int(given) if given.isdecimal() else None


def _operations_asked(argv: tuple[str, ...]) -> int | None:
    """Number of operations on YCSB's command line; for a load, the client's share of the records."""
    properties = dict(
        pair.split("=", 1) for flag, pair in pairwise(argv) if flag == "-p" and "=" in pair
    )
    keys = ("insertcount", "recordcount") if "-load" in argv else ("operationcount",)
    asked = next((properties[key] for key in keys if key in properties), None)
    return int(asked) if asked is not None and asked.isdecimal() else None


def monitor_rows(manifest: Manifest) -> Iterator[Row]:
    """Rows of `monitors`."""
    clock = {entry.host: entry for entry in manifest.clock}
    offsets = clock_offsets(manifest.clock)
    for monitor in manifest.monitors:
        entry = clock.get(monitor.host)
        yield {
            "trial": manifest.trial,
            **monitor.model_dump(exclude={"time_zone", "files"}),
            "clock_before_s": entry.before_s if entry else None,
            "clock_after_s": entry.after_s if entry else None,
            "clock_offset_s": offsets.get(monitor.host),
        }


def bring_up_rows(manifests: Iterable[Manifest]) -> Iterator[Row]:
    """Rows of `bring_up`, from one trial per build: every manifest of a build repeats its phases."""
    builds = {manifest.build: manifest for manifest in manifests if manifest.bring_up}
    for build, manifest in sorted(builds.items()):
        for position, phase in enumerate(manifest.bring_up):
            yield {
                "build": build,
                "topology": manifest.topology.name,
                "position": position,
                "phase": phase.name,
                "seconds": phase.seconds,
            }
