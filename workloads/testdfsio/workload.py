"""The TestDFSIO trial: write the files, empty the caches, run one job, fetch its output and history."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from density_study.cluster.clients.client_commands import hadoop_command
from density_study.cluster.clients.cold_reads import EVICTION, device_bytes, evict_blocks
from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.clients.write_out import WritingOut, begin_write_out, write_out
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.transport import Command, Transport
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.cold import UNKNOWN
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.base.values import ClientRun, ColdProof
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.testdfsio.data import DataSet, storage_faults
from density_study.workloads.testdfsio.distance import (
    Nearest,
    bytes_by_distance,
    nearest_replicas,
    read_sent,
)
from density_study.workloads.testdfsio.faults import faults_of
from density_study.workloads.testdfsio.hdfs_cache import (
    cache_use,
    cached_share,
    empty,
    fill,
    read_datanodes,
)
from density_study.workloads.testdfsio.job import distinct_bytes, job_arguments
from density_study.workloads.testdfsio.modes import POSITIONED, READS, WRITES
from density_study.workloads.testdfsio.output.history import parse_history
from density_study.workloads.testdfsio.test_case import DEFAULT_READ_BYTES, DfsioTestCase

NAME = "testdfsio"
PREPARE = "testdfsio-prepare"
MAIN = "org.apache.hadoop.fs.TestDFSIO"
CACHED = "hdfs_cache"
"""For the state before and after the trial: what each DataNode says of its cache."""
SENT = "hdfs_read"
"""For the state before the trial: what DataNodes have sent; after it: bytes read by distance."""


class DfsioWorkload:
    """One job per trial. Its three rates come from the job's output and history (method 13)."""

    def __init__(self) -> None:
        self._writing: WritingOut | None = None

    def prepare(self, context: TrialContext, test_case: DfsioTestCase) -> Prepared:
        hdfs = Hdfs(context.cluster)
        data = DataSet(hdfs, test_case)
        caches = bool(context.cluster.topology.configuration.hdfs_cache_mib)
        if caches:
            empty(context)
        data.allow_erasure_coding()
        if test_case.mode == "write":
            data.delete()
        elif not data.is_complete():
            self._write_unmeasured(context, test_case, data)
        data.clear_results()
        hdfs.clear_histories()
        if context.cluster.topology.existing:  # nobody here sees its disks and page caches
            return Prepared(data_set_mib=test_case.data_mib, cold=ColdProof(method=UNKNOWN))
        write_out(*_machines(context))
        state: dict[str, Any] = {}
        if caches and test_case.mode in READS:
            state[CACHED] = fill(context, data, whole=test_case.mode in POSITIONED)
        evicted_bytes = evict_blocks(*_machines(context))
        state["io"] = device_bytes(context.cluster, context.transport)
        state[SENT] = read_sent(context.cluster)
        return Prepared(
            data_set_mib=test_case.data_mib,
            cold=ColdProof(method=EVICTION, evicted_bytes=evicted_bytes),
            state=state,
        )

    def run(self, context: TrialContext, test_case: DfsioTestCase) -> tuple[ClientRun, ...]:
        limit_s = test_case.job_limit_on(context.cluster.topology)
        client = run_client(context, _command(context, test_case, NAME), limit_s)
        if test_case.mode in WRITES and not context.cluster.topology.existing:
            self._writing = begin_write_out(*_machines(context))  # the window has ended
        return (client,)

    def collect(
        self, context: TrialContext, test_case: DfsioTestCase, prepared: Prepared
    ) -> Collected:
        spent = self._device_bytes_since(context, prepared)
        sent = read_sent(context.cluster)
        hdfs = Hdfs(context.cluster)
        raw = context.record.raw
        data = DataSet(hdfs, test_case)
        data.fetch_sums(raw / "io")
        hdfs.fetch_histories(raw / "history")
        stored = data.stored()
        nearest = partial(_nearest, context, data, raw / "history")
        asked = distinct_bytes(test_case, stored.bytes) if test_case.mode in READS else None
        state: dict[str, Any] = {"io": spent, "stored": asdict(stored), **self._unwritten()}
        if asked is not None and prepared.state is not None:
            at_start = prepared.state[SENT]
            topology = context.cluster.topology
            state[SENT] = bytes_by_distance(topology, at_start, sent, asked, nearest)
        data.delete_if_changed()
        caches, before = None, (prepared.state or {}).get(CACHED)
        if before and asked is not None:
            topology = context.cluster.built
            state[CACHED] = now = read_datanodes(context.cluster)
            caches = cache_use(topology, before, now, asked, spent["read_bytes"])
            asked = round(asked * (1 - cached_share(before, stored.bytes, topology.replication)))
            empty(context)
        proof = {
            "distinct_bytes_asked": asked,
            "physical_read_bytes": spent.get("read_bytes"),
            "physical_write_bytes": spent.get("written_bytes"),
        }
        return Collected(
            faults=(*faults_of(raw, test_case), *storage_faults(test_case, stored)),
            cold=(prepared.cold or ColdProof(method="none")).model_copy(update=proof),
            state=state,
            caches=caches,
        )

    def _unwritten(self) -> dict[str, Any]:
        """What was only in memory when the job ended, and how long it took to write; empty: not requested."""
        if self._writing is None:
            return {}
        facts = {"bytes": self._writing.unwritten_bytes, "write_out_s": self._writing.seconds()}
        return {"unwritten": facts}

    def _device_bytes_since(self, context: TrialContext, prepared: Prepared) -> dict[str, int]:
        """Empty where nobody sees the devices."""
        if prepared.state is None:
            return {}
        before = prepared.state["io"]
        now = device_bytes(context.cluster, context.transport)
        return {name: count - before[name] for name, count in now.items()}

    def _write_unmeasured(
        self, context: TrialContext, test_case: DfsioTestCase, data: DataSet
    ) -> None:
        """Write the files that the test case reads or changes."""
        data.delete()
        write = test_case.model_copy(
            update={"mode": "write", "read_size_bytes": DEFAULT_READ_BYTES}
        )
        command = _command(context, write, PREPARE, data.base, "logs")
        limit_s = write.job_limit_on(context.cluster.topology)
        run = run_client(context, command, limit_s, folder="logs")
        require_success(context, run, "writing the input files")


def _nearest(context: TrialContext, data: DataSet, histories: Path) -> Nearest | None:
    """Where the replicas of the job's files lie from its maps; None if it is not known."""
    try:
        files = data.blocks()
        parsed = [parse_history(one.read_bytes(), one.name) for one in histories.glob("*.jhist")]
    except (OSError, LookupError, ParseError):
        return None
    maps = [attempt for one in parsed for job in one.rows for attempt in job.maps]
    return nearest_replicas(context.cluster.topology, maps, files)


def _machines(context: TrialContext) -> tuple[Cluster, Transport, Path, float]:
    logs = context.record.root / "logs"
    return context.cluster, context.transport, logs, context.timeout_scale


def _command(
    context: TrialContext,
    test_case: DfsioTestCase,
    name: str,
    base: str | None = None,
    kept: str = "raw",
) -> Command:
    folder = base or DataSet(Hdfs(context.cluster), test_case).base
    result_file = str(context.at(context.record.root / kept / f"{name}.log"))
    given = context.cluster.topology.existing
    arguments = job_arguments(test_case, folder, result_file, given)
    return hadoop_command(context.cluster, name, MAIN, arguments)
