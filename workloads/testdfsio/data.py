"""`DataSet`: a test case's files on HDFS. Each data set has its own folder, so that no mode reads what
another mode left behind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.clients.hdfs import Block, FileStatus, Hdfs
from density_study.workloads.testdfsio.hdfs_policies import POLICIES
from density_study.workloads.testdfsio.job import length_after_bytes
from density_study.workloads.testdfsio.modes import OWN_DATA
from density_study.workloads.testdfsio.test_case import DfsioTestCase


@dataclass(frozen=True)
class Stored:
    """The files as HDFS reports them: number, total length (not counting replicas), and how they are
    stored."""

    files: int
    bytes: int
    storage_policies: tuple[int, ...]
    erasure_codings: tuple[str, ...]


class DataSet:
    def __init__(self, hdfs: Hdfs, test_case: DfsioTestCase) -> None:
        self._hdfs = hdfs
        self._test_case = test_case
        self.base = f"{hdfs.benchmarks}/{test_case.data_set}"

    def is_complete(self) -> bool:
        """Whether every file exists in full length. Compressed files have equal lengths: TestDFSIO writes the
        same bytes into each."""
        sizes = [status.size_bytes for status in self._files()]
        if len(sizes) != self._test_case.files:
            return False
        if self._test_case.compression is not None:
            return len(set(sizes)) == 1 and sizes[0] > 0
        return set(sizes) == {self._test_case.file_size_mib * 2**20}

    def delete(self) -> None:
        self._hdfs.delete(self.folder)

    def delete_if_changed(self) -> None:
        """Delete files that the mode has changed: no other trial can use them."""
        if self._test_case.mode in OWN_DATA:
            self._hdfs.delete(self.base)

    def clear_results(self) -> None:
        """Delete the results of earlier jobs, so that only this job's are fetched."""
        for path in self._hdfs.glob(f"{self.base}/io_*"):
            if not path.endswith("/io_data"):
                self._hdfs.delete(path)

    def allow_erasure_coding(self) -> None:
        """Enable the policy, as HDFS requires before files use it. Repeating this is harmless."""
        if self._test_case.erasure_coding is not None:
            self._hdfs.enable_erasure_coding(self._test_case.erasure_coding)

    def fetch_sums(self, folder: Path) -> None:
        for part in self._hdfs.glob(f"{self.base}/io_*/part-*"):
            self._hdfs.fetch(part, folder / Path(part).name)

    def stored(self) -> Stored:
        files = self._files()
        return Stored(
            files=len(files),
            bytes=sum(status.size_bytes for status in files),
            storage_policies=tuple(sorted({status.storage_policy for status in files})),
            erasure_codings=tuple(sorted({status.erasure_coding for status in files})),
        )

    @property
    def folder(self) -> str:
        """The folder of the files."""
        return f"{self.base}/io_data"

    def blocks(self) -> dict[str, list[Block]]:
        """The blocks of each file by its name, in the order of the names."""
        return {Path(one.path).name: self._hdfs.blocks(one.path) for one in self._files()}

    def _files(self) -> list[FileStatus]:
        return self._hdfs.statuses(self.folder)


def storage_faults(test_case: DfsioTestCase, stored: Stored) -> list[str]:
    """Differences between the files and what the test case requested, as sentences."""
    faults = []
    if stored.files != test_case.files:
        faults.append(f"{stored.files} files are on HDFS, {test_case.files} requested")
    length = test_case.files * length_after_bytes(test_case)
    if test_case.compression is None and stored.bytes != length:
        faults.append(f"the files hold {stored.bytes} bytes after the job, {length} expected")
    if test_case.compression is not None and stored.bytes >= length:
        faults.append(f"the files are not compressed: {stored.bytes} bytes")
    if stored.erasure_codings != ((test_case.erasure_coding or ""),):
        faults.append(
            f"the files' erasure coding is {stored.erasure_codings}, "
            f"not {test_case.erasure_coding or 'replication'}"
        )
    policy = test_case.storage_policy
    if policy is not None and stored.storage_policies != (POLICIES[policy][0],):
        faults.append(f"the files' storage policy is {stored.storage_policies}, not {policy}")
    return faults
