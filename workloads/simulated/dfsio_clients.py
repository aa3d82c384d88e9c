"""What a TestDFSIO job leaves of a simulated trial: its result, sums of its streams, and its history."""

from __future__ import annotations

import heapq

import numpy as np

from density_study.cluster.clients.cold_reads import EVICTION
from density_study.cluster.providers.simulated.service_times import service_times
from density_study.workloads.base.values import ClientRun, ColdProof
from density_study.workloads.base.workload import Collected, Prepared
from density_study.workloads.simulated import texts
from density_study.workloads.simulated.dfsio_model import MIB, seconds_of
from density_study.workloads.simulated.trial import SimulatedTrial
from density_study.workloads.testdfsio.job import distinct_bytes
from density_study.workloads.testdfsio.modes import OWN_DATA, READS, WRITES
from density_study.workloads.testdfsio.setting import DfsioSetting
from density_study.workloads.testdfsio.workload import NAME

_STREAMS_VARY = 0.05
_END_S = 1.0


class DfsioClients:
    def prepare(self, trial: SimulatedTrial) -> Prepared:
        setting = _of(trial)
        is_there = trial.is_done(f"written {setting.data_set}")
        if setting.mode != "write" and (not is_there or setting.mode in OWN_DATA):
            write = setting.model_copy(update={"mode": "write", "readers": None})
            rate = trial.outcome_of(write).rate
            trial.clock.advance(service_times()["streams"]["job_start_s"] + setting.data_mib / rate)
        trial.clock.advance(service_times()["phases_s"]["settle"])
        return Prepared(data_set_mib=setting.data_mib, cold=ColdProof(method=EVICTION))

    def run(self, trial: SimulatedTrial) -> tuple[ClientRun, ...]:
        setting, raw = _of(trial), trial.raw
        started_s = trial.clock.now_s()
        first_s = started_s + service_times()["streams"]["job_start_s"]
        maps = _maps(trial, setting, first_s)
        ended_s = max(end_s for _, end_s, _ in maps) + _END_S
        start_s = service_times()["streams"]["map_start_s"]
        streams = [
            (setting.bytes_per_file, max(1, round(1000 * (end_s - begin_s - start_s))))
            for begin_s, end_s, _ in maps
        ]
        for folder in ("io", "history"):
            (raw / folder).mkdir()
        log = texts.dfsio_log(setting.mode, streams, ended_s - started_s, ended_s)
        (raw / f"{NAME}.log").write_text(log)
        (raw / "io" / "part-00000").write_text(texts.dfsio_part(streams))
        (raw / "history" / "job_1.jhist").write_text(texts.history(started_s, ended_s, maps))
        for end in ("out", "err"):
            (raw / f"{NAME}.{end}").write_text("")
        trial.clock.advance(ended_s + _END_S - started_s)
        return (
            ClientRun(
                name=NAME, node=trial.context.cluster.topology.client.name, argv=("java", NAME),
                exit_code=0, stdout=f"raw/{NAME}.out", stderr=f"raw/{NAME}.err",
                start_epoch_s=started_s, end_epoch_s=ended_s + _END_S,
            ),
        )  # fmt: skip

    def collect(self, trial: SimulatedTrial, prepared: Prepared) -> Collected:
        setting = _of(trial)
        asked = distinct_bytes(setting) if setting.mode in READS else None
        copies = setting.copies(trial.context.cluster.built.replication)
        proof = ColdProof(
            method=EVICTION,
            evicted_bytes=round(setting.data_mib * MIB),
            distinct_bytes_asked=asked,
            physical_read_bytes=asked or 0,
            physical_write_bytes=round(setting.asked_bytes * copies)
            if setting.mode in WRITES
            else 0,
        )
        unwritten = (
            {"unwritten": {"bytes": 0, "write_out_s": 0.0}} if setting.mode in WRITES else {}
        )
        return Collected(cold=proof, state=unwritten)


def _of(trial: SimulatedTrial) -> DfsioSetting:
    assert isinstance(trial.setting, DfsioSetting)
    return trial.setting


def _maps(
    trial: SimulatedTrial, setting: DfsioSetting, first_s: float
) -> list[tuple[float, float, str]]:
    """Start, end and host of each map, as many at once as the model has: a map starts when one ends."""
    outcome, rng = trial.outcome, trial.rng("streams")
    map_s, stream_s = seconds_of(setting, outcome)
    varied = stream_s * np.exp(_STREAMS_VARY * rng.standard_normal(setting.files))
    workers = trial.context.cluster.topology.workers
    free = [first_s] * min(outcome.at_once, setting.files)
    maps = []
    for number, seconds in enumerate(varied.tolist()):
        begin_s = heapq.heappop(free)
        maps.append(
            (begin_s, begin_s + map_s - stream_s + seconds, workers[number % len(workers)].host)
        )
        heapq.heappush(free, maps[-1][1])
    return maps
