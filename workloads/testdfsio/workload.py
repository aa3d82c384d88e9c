"""The TestDFSIO trial: files there, caches cold, one job, its reduce output and job history fetched."""

from __future__ import annotations

from pathlib import Path

from cluster.client import hadoop_command
from cluster.command import Command
from cluster.hdfs import Hdfs
from cluster.local.cache import IoCounters, evict_blocks, settle_writes
from workloads.client_run import require_success, run_client
from workloads.manifest import ClientRun, ColdProof
from workloads.testdfsio.distinct import distinct_bytes
from workloads.testdfsio.faults import faults_of
from workloads.testdfsio.setting import DfsioSetting
from workloads.workload import Bench, Collected, Prepared

NAME = "testdfsio"
MAIN = "org.apache.hadoop.fs.TestDFSIO"
BASE = "/benchmarks/TestDFSIO"
"""The tool's own default directory on HDFS."""
TIMEOUT_S = 3600.0
FLAGS = {
    "write": ("-write",),
    "read": ("-read",),
    "random": ("-read", "-random"),
    "backward": ("-read", "-backward"),
    "skip": ("-read", "-skip"),
}


class TestDfsio:
    """One job a trial. Its three rates come from the job's own output and history (method 13)."""

    __test__ = False  # not a test, whatever its name says to pytest

    def prepare(self, bench: Bench, setting: DfsioSetting) -> Prepared:
        hdfs = Hdfs(bench.cluster)
        self._clear_results(hdfs)
        if setting.mode == "write":
            hdfs.delete(f"{BASE}/io_data")
        elif not self._files_are_there(hdfs, setting):
            self._write_unmeasured(bench, setting)
            self._clear_results(hdfs)
        settle_writes()
        evicted = evict_blocks(bench.cluster)
        return Prepared(
            data_set_mib=float(setting.files * setting.file_size_mib),
            cold=ColdProof(method=evicted.method, evicted_bytes=evicted.bytes),
            state={"io": IoCounters.read(bench.cluster).to_json()},
        )

    def run(self, bench: Bench, setting: DfsioSetting) -> tuple[ClientRun, ...]:
        return (run_client(bench, self._command(bench, setting, NAME), TIMEOUT_S),)

    def collect(self, bench: Bench, setting: DfsioSetting, prepared: Prepared) -> Collected:
        spent = IoCounters.read(bench.cluster).since(prepared.state["io"] if prepared.state else {})
        hdfs = Hdfs(bench.cluster)
        raw = bench.record.raw
        for part in hdfs.glob(f"{BASE}/io_*/part-*"):
            hdfs.fetch(part, raw / "io" / Path(part).name)
        for history in hdfs.job_histories():
            job = Path(history).name.partition("-")[0]  # the rest is user, name, times, counts
            hdfs.fetch(history, raw / "history" / f"{job}.jhist")
        reads = setting.mode != "write"
        return Collected(
            faults=faults_of(raw, setting),
            cold=ColdProof(
                method=prepared.cold.method if prepared.cold else "none",
                evicted_bytes=prepared.cold.evicted_bytes if prepared.cold else None,
                distinct_bytes_asked=distinct_bytes(setting) if reads else None,
                physical_read_bytes=spent.read_bytes,
                physical_write_bytes=spent.written_bytes,
            ),
            state={"io": spent.to_json()},
        )

    def _command(self, bench: Bench, setting: DfsioSetting, name: str) -> Command:
        return hadoop_command(
            bench.cluster,
            name,
            MAIN,
            (
                *FLAGS[setting.mode],
                "-nrFiles", str(setting.files),
                "-size", f"{setting.file_size_mib}MB",
                "-bufferSize", str(setting.read_size_bytes),
                "-resFile", str(bench.record.raw / f"{name}.log"),
            ),
        )  # fmt: skip

    @staticmethod
    def _clear_results(hdfs: Hdfs) -> None:
        """Results and histories of earlier jobs go, so that what is fetched is this job's alone."""
        for path in [*hdfs.glob(f"{BASE}/io_*"), *hdfs.job_histories()]:
            if not path.endswith("/io_data"):
                hdfs.delete(path)

    @staticmethod
    def _files_are_there(hdfs: Hdfs, setting: DfsioSetting) -> bool:
        sizes = [size for _, size in hdfs.files(f"{BASE}/io_data")]
        return sizes == [setting.file_size_mib * 2**20] * setting.files

    def _write_unmeasured(self, bench: Bench, setting: DfsioSetting) -> None:
        Hdfs(bench.cluster).delete(f"{BASE}/io_data")
        write = setting.model_copy(update={"mode": "write"})
        command = self._command(bench, write, "testdfsio-prepare")
        run = run_client(bench, command, TIMEOUT_S, folder="logs")
        require_success(bench, run, "writing the files to read")
        (bench.record.raw / "testdfsio-prepare.log").rename(
            bench.record.root / "logs" / "testdfsio-prepare.log"
        )
