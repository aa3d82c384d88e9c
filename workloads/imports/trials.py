"""From a map and the recognised files to the trials of a run. Reads nothing and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.values import ColdProof, MonitorRun, Window
from density_study.workloads.imports.agreement import of_one_run
from density_study.workloads.imports.built_trial import RecordFile, Workload
from density_study.workloads.imports.choose import Chosen, Knowledge, chosen
from density_study.workloads.imports.dfsio_trial import dfsio_trial
from density_study.workloads.imports.existing_cluster import clocks, host_of, monitors, topology
from density_study.workloads.imports.map_file import MapFile
from density_study.workloads.imports.map_model import TrialEntry
from density_study.workloads.imports.piece import HOST_MONITORS, MONITORS, Kind, Piece, Recognised
from density_study.workloads.imports.ycsb.trial import ycsb_trial
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.recorded import (
    Imported,
    ImportedClient,
    RecordedTopology,
    Source,
)
from density_study.workloads.testdfsio.imported import ImportedDfsio

# Kinds that belong to only one trial; a monitor's file may cover many.
_RESULTS: tuple[Kind, ...] = ("ycsb-run", "ycsb-hdr", "dfsio-results", "dfsio-io", "dfsio-history")
_COLD_MODES = ("read", "backward", "skip")


@dataclass(frozen=True)
class ImportedTrial:
    """A trial to be written: its manifest without the files' hashes, and its files. doubts: what the files
    contradict in the map."""

    manifest: Manifest
    files: tuple[RecordFile, ...]
    window_source: str
    doubts: tuple[str, ...] = ()

    @property
    def imported(self) -> Imported:
        assert self.manifest.imported is not None
        return self.manifest.imported


def assemble(
    file: MapFile, recognised: Mapping[str, Recognised], run: str
) -> tuple[ImportedTrial, ...]:
    """The trials in the order of the map. InputError with file, line and key for all that does not fit.

    run: id of the run to be.
    """
    chosen_of = [
        chosen(Knowledge(file, place), trial, recognised)
        for place, trial in enumerate(file.map.trials)
    ]
    _require_one_use(file, chosen_of, recognised)
    seen: dict[str | None, list[str]] = {}
    for place, (trial, pieces) in enumerate(zip(file.map.trials, chosen_of, strict=True)):
        hosts = [
            host_of(Knowledge(file, place), one) for one in pieces if one.piece.kind in MONITORS
        ]
        seen.setdefault(trial.variant, []).extend(hosts)
    topologies = {variant: topology(file.map, variant, hosts) for variant, hosts in seen.items()}
    return tuple(
        _assembled(file, place, trial, pieces, topologies[trial.variant], recognised, run)
        for place, (trial, pieces) in enumerate(zip(file.map.trials, chosen_of, strict=True))
    )


def _require_one_use(
    file: MapFile, chosen_of: Sequence[Sequence[Chosen]], recognised: Mapping[str, Recognised]
) -> None:
    users: dict[tuple[str, Kind, int], int] = {}
    first_of: dict[object, tuple[int, Piece]] = {}
    for place, pieces in enumerate(chosen_of):
        for one in pieces:
            if one.piece.kind not in _RESULTS:
                continue
            identity = (one.piece.file, one.piece.kind, one.piece.number)
            if identity in users:
                raise InputError(
                    f"{one.piece} is already in trials[{users[identity]}].",
                    file.place("trials", place, *one.key),
                    "a result belongs to one trial.",
                )
            users[identity] = place
            ran = of_one_run(one.piece, recognised[one.piece.file].sha256) or identity
            first, original = first_of.setdefault(ran, (place, one.piece))
            if original is not one.piece:
                raise InputError(
                    f"{one.piece} is a copy of {original}, which is in trials[{first}].",
                    file.place("trials", place, *one.key),
                    "leave one of them out: it is one run.",
                )


def _assembled(
    file: MapFile,
    place: int,
    trial: TrialEntry,
    pieces: Sequence[Chosen],
    cluster: RecordedTopology,
    recognised: Mapping[str, Recognised],
    run: str,
) -> ImportedTrial:
    knowledge = Knowledge(file, place)
    ran = _workload(knowledge, trial, pieces)
    monitored, monitor_files = monitors(knowledge, pieces, ran.window)
    offsets = clocks(knowledge, monitored)
    if not monitored:
        knowledge.note("monitors", None)
    files = (*ran.files, *monitor_files)
    build = f"b{trial.repetition}-{cluster.name}"
    variant = file.map.variants.get(trial.variant or "")
    about = {**file.map.about, **(variant.about if variant else {})}
    manifest = Manifest(
        study=file.map.study,
        run=run,
        trial=f"{build}-{place:03d}-{ran.test_case.id}",
        repetition=trial.repetition,
        build=build,
        order=place,
        seed=0,
        state="failed" if ran.problems else "complete",
        reasons=ran.problems,
        test_case_id=ran.test_case.id,
        test_case=ran.test_case,
        monitored=bool(monitored),
        topology=cluster,
        isolation=cluster.isolation,
        imported=Imported(
            sources={one.path: _source(one, recognised) for one in files},
            given=tuple(knowledge.given),
            unknown=tuple(knowledge.unknown),
            accepted=file.map.accept,
        ),
        window=ran.window,
        clients=tuple(_placed(client, cluster) for client in ran.clients),
        monitors=monitored,
        clock=offsets,
        cold=_cold(ran, cluster, monitored),
        total_ram_mib=_total_ram_mib(cluster),
        times_s=_times_s(ran.window),
        disclosure={"about": about} if about else {},
    )
    return ImportedTrial(manifest, files, ran.window_source, ran.doubts)


def _workload(knowledge: Knowledge, trial: TrialEntry, pieces: Sequence[Chosen]) -> Workload:
    if trial.ycsb is not None:
        return ycsb_trial(knowledge, trial, trial.ycsb, pieces)
    assert trial.testdfsio is not None
    return dfsio_trial(knowledge, trial, trial.testdfsio, pieces)


def _placed(client: ImportedClient, cluster: RecordedTopology) -> ImportedClient:
    """On its host, which is the only one with the role client if no file names it."""
    hosts = {node.host for node in cluster.nodes if "client" in node.roles}
    only = next(iter(hosts)) if len(hosts) == 1 else None
    return client.model_copy(update={"host": client.host or only})


def _source(one: RecordFile, recognised: Mapping[str, Recognised]) -> Source:
    lines: dict[str, Any] = {}
    if not one.lines.whole:
        lines = {"first_line": one.lines.first, "last_line": one.lines.last}
    return Source(file=one.file, sha256=recognised[one.file].sha256, **lines)


def _times_s(window: Window | None) -> dict[Any, float]:
    return {} if window is None else {"measure": window.end_epoch_s - window.start_epoch_s}


def _total_ram_mib(cluster: RecordedTopology) -> float | None:
    """Memory of the workers; None unless the map gives it for each of them."""
    known = [node.memory_mib for node in cluster.workers]
    total = sum(size for size in known if size is not None)
    return float(total) if known and None not in known else None


def _cold(
    ran: Workload, cluster: RecordedTopology, monitored: Sequence[MonitorRun]
) -> ColdProof | None:
    """For a TestDFSIO read whose workers are all known and monitored: the disks' reads can be compared with
    the bytes requested. A missing host would make a cold read look warm."""
    workers = {node.host for node in cluster.workers}
    watched = {run.host for run in monitored if run.kind in HOST_MONITORS}
    test_case = ran.test_case
    if not isinstance(test_case, ImportedDfsio) or test_case.mode not in _COLD_MODES:
        return None
    if not workers or not workers <= watched or test_case.asked_bytes is None:
        return None
    return ColdProof(method="not recorded", distinct_bytes_asked=test_case.asked_bytes)
