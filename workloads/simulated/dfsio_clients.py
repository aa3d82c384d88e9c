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
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.testdfsio.workload import NAME

_STREAMS_VARY = 0.05
_END_S = 1.0


class DfsioClients:
    def prepare(self, trial: SimulatedTrial) -> Prepared:
        test_case = _of(trial)
        is_there = trial.is_done(f"written {test_case.data_set}")
        if test_case.mode != "write" and (not is_there or test_case.mode in OWN_DATA):
            write = test_case.model_copy(update={"mode": "write", "readers": None})
            rate = trial.outcome_of(write).rate
            trial.clock.advance(
                service_times()["streams"]["job_start_s"] + test_case.data_mib / rate
            )
        trial.clock.advance(service_times()["phases_s"]["settle"])
        return Prepared(data_set_mib=test_case.data_mib, cold=ColdProof(method=EVICTION))

    def run(self, trial: SimulatedTrial) -> tuple[ClientRun, ...]:
        test_case, raw = _of(trial), trial.raw
        started_s = trial.clock.now_s()
        first_s = started_s + service_times()["streams"]["job_start_s"]
        maps = _maps(trial, test_case, first_s)
        ended_s = max(end_s for _, end_s, _ in maps) + _END_S
        start_s = service_times()["streams"]["map_start_s"]
        streams = [
            (test_case.bytes_per_file, max(1, round(1000 * (end_s - begin_s - start_s))))
            for begin_s, end_s, _ in maps
        ]
        for folder in ("io", "history"):
            (raw / folder).mkdir()
        log = texts.dfsio_log(test_case.mode, streams, ended_s - started_s, ended_s)
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
        test_case = _of(trial)
        asked = distinct_bytes(test_case) if test_case.mode in READS else None
        copies = test_case.copies(trial.context.cluster.built.replication)
        proof = ColdProof(
            method=EVICTION,
            evicted_bytes=round(test_case.data_mib * MIB),
            distinct_bytes_asked=asked,
            physical_read_bytes=asked or 0,
            physical_write_bytes=round(test_case.asked_bytes * copies)
            if test_case.mode in WRITES
            else 0,
        )
        unwritten = (
            {"unwritten": {"bytes": 0, "write_out_s": 0.0}} if test_case.mode in WRITES else {}
        )
        return Collected(cold=proof, state=unwritten)


def _of(trial: SimulatedTrial) -> DfsioTestCase:
    assert isinstance(trial.test_case, DfsioTestCase)
    return trial.test_case


def _maps(
    trial: SimulatedTrial, test_case: DfsioTestCase, first_s: float
) -> list[tuple[float, float, str]]:
    """Start, end and host of each map, as many at once as the model has: a map starts when one ends."""
    outcome, rng = trial.outcome, trial.rng("streams")
    map_s, stream_s = seconds_of(test_case, outcome)
    varied = stream_s * np.exp(_STREAMS_VARY * rng.standard_normal(test_case.files))
    workers = trial.context.cluster.topology.workers
    free = [first_s] * min(outcome.at_once, test_case.files)
    maps = []
    for number, seconds in enumerate(varied.tolist()):
        begin_s = heapq.heappop(free)
        maps.append(
            (begin_s, begin_s + map_s - stream_s + seconds, workers[number % len(workers)].host)
        )
        heapq.heappush(free, maps[-1][1])
    return maps
