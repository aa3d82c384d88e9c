"""TestDFSIO's command line for a test case, and how many bytes the job requests, processes and touches
(method 5, 16). Pure.

Source: `org.apache.hadoop.fs.TestDFSIO.run` and its mappers, Hadoop 3.4.2. The tool reads a size
without a unit as MB, and rejects `1M`: every size is passed in bytes, with its B.
"""

from __future__ import annotations

from density_study.cluster.model.existing import JOB_TAG, ExistingCluster
from density_study.workloads.testdfsio.modes import READS, DfsioMode
from density_study.workloads.testdfsio.test_case import DfsioTestCase

FLAGS: dict[DfsioMode, tuple[str, ...]] = {
    "write": ("-write",),
    "append": ("-append",),
    "truncate": ("-truncate",),
    "read": ("-read",),
    "random": ("-read", "-random"),
    "backward": ("-read", "-backward"),
    "skip": ("-read", "-skip"),
}
CODECS = {
    "gzip": "org.apache.hadoop.io.compress.GzipCodec",
    "deflate": "org.apache.hadoop.io.compress.DeflateCodec",
    "bzip2": "org.apache.hadoop.io.compress.BZip2Codec",
    "snappy": "org.apache.hadoop.io.compress.SnappyCodec",
}


def job_arguments(
    test_case: DfsioTestCase, base: str, result_file: str, given: ExistingCluster | None = None
) -> tuple[str, ...]:
    """The job's arguments: files below `base` on HDFS, result appended to the local `result_file`.

    On a `given` cluster, all that the job leaves is in the study's folder, and it runs in the study's queue.

    Policies apply only to writes. Readers apply only to reads, by MapReduce's limit on running maps.
    """
    arguments = ["-D", f"test.build.data={base}"]
    for name, value in on_existing(given).items():
        arguments += ["-D", f"{name}={value}"]
    if test_case.readers is not None and test_case.mode in READS:
        arguments += ["-D", f"mapreduce.job.running.map.limit={test_case.readers}"]
    arguments += [*FLAGS[test_case.mode], "-nrFiles", str(test_case.files)]
    arguments += ["-size", f"{size_argument_bytes(test_case)}B"]
    arguments += ["-bufferSize", str(test_case.read_size_bytes)]
    if test_case.mode == "skip":
        arguments += ["-skipSize", f"{test_case.skip_size_bytes or test_case.read_size_bytes}B"]
    if test_case.compression:
        arguments += ["-compression", CODECS[test_case.compression]]
    if test_case.mode == "write" and test_case.storage_policy:
        arguments += ["-storagePolicy", test_case.storage_policy]
    if test_case.mode == "write" and test_case.erasure_coding:
        arguments += ["-erasureCodePolicy", test_case.erasure_coding]
    return (*arguments, "-resFile", result_file)


def on_existing(given: ExistingCluster | None) -> dict[str, str]:
    """Properties of a job on a cluster of others; empty on one of the study's own."""
    if given is None:
        return {}
    return {
        "mapreduce.job.queuename": given.queue,
        "mapreduce.job.tags": JOB_TAG,
        "yarn.app.mapreduce.am.staging-dir": given.staging,
        "mapreduce.jobhistory.intermediate-done-dir": given.history,
        "mapreduce.jobhistory.jhist.format": "json",  # else binary, which only Hadoop reads
    }


def size_argument_bytes(test_case: DfsioTestCase) -> int:
    """The tool's `-size` for one file. For a read it is the amount to read, not the file's length: a skip
    gets what its reads can return, because the tool stops early and silently if it is to read the whole
    file. For a truncate it is the remaining length."""
    if test_case.mode == "truncate":
        return test_case.file_bytes - test_case.bytes_per_file
    return test_case.bytes_per_file


def processed_bytes(test_case: DfsioTestCase) -> tuple[int, int]:
    """Minimum and maximum that a complete job reports. A random read near the file's end is short, and
    the stream then reads once more; so does a backward read if the read size does not divide the file."""
    minimum = test_case.asked_bytes
    if test_case.mode in ("random", "backward"):
        return minimum, minimum + test_case.files * test_case.read_size_bytes
    return minimum, minimum


def distinct_bytes(test_case: DfsioTestCase, stored_bytes: int | None = None) -> int:
    """Bytes of the files that a read requests at least once.

    Random offsets are drawn with replacement, so m = size / read reads of a file are expected to
    touch 1 - (1 - read/size)^m of it (63 % for large m); a skip touches what it reads, once.
    A compressed file holds less than the job reads from it: then the result is `stored_bytes`, the
    length of all files.
    """
    if test_case.compression is not None and stored_bytes is not None:
        return stored_bytes
    if test_case.mode != "random":
        return test_case.asked_bytes
    size = test_case.file_bytes
    read = min(test_case.read_size_bytes, size)
    return int(test_case.files * size * (1 - (1 - read / size) ** -(-size // read)))


def length_after_bytes(test_case: DfsioTestCase) -> int:
    """Uncompressed length of one file after the job."""
    change = {"append": test_case.bytes_per_file, "truncate": -test_case.bytes_per_file}
    return test_case.file_bytes + change.get(test_case.mode, 0)
