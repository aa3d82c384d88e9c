"""TestDFSIO's command line for a setting, and how many bytes the job requests, processes and touches
(method 5, 16). Pure.

Source: `org.apache.hadoop.fs.TestDFSIO.run` and its mappers, Hadoop 3.4.2. The tool reads a size
without a unit as MB, and rejects `1M`: every size is passed in bytes, with its B.
"""

from __future__ import annotations

from density_study.cluster.model.given import JOB_TAG, GivenCluster
from density_study.workloads.testdfsio.modes import READS, DfsioMode
from density_study.workloads.testdfsio.setting import DfsioSetting

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
    setting: DfsioSetting, base: str, result_file: str, given: GivenCluster | None = None
) -> tuple[str, ...]:
    """The job's arguments: files below `base` on HDFS, result appended to the local `result_file`.

    On a `given` cluster, all that the job leaves is in the study's folder, and it runs in the study's queue.

    Policies apply only to writes. Readers apply only to reads, by MapReduce's limit on running maps.
    """
    arguments = ["-D", f"test.build.data={base}"]
    for name, value in _on_given(given).items():
        arguments += ["-D", f"{name}={value}"]
    if setting.readers is not None and setting.mode in READS:
        arguments += ["-D", f"mapreduce.job.running.map.limit={setting.readers}"]
    arguments += [*FLAGS[setting.mode], "-nrFiles", str(setting.files)]
    arguments += ["-size", f"{size_argument_bytes(setting)}B"]
    arguments += ["-bufferSize", str(setting.read_size_bytes)]
    if setting.mode == "skip":
        arguments += ["-skipSize", f"{setting.skip_size_bytes or setting.read_size_bytes}B"]
    if setting.compression:
        arguments += ["-compression", CODECS[setting.compression]]
    if setting.mode == "write" and setting.storage_policy:
        arguments += ["-storagePolicy", setting.storage_policy]
    if setting.mode == "write" and setting.erasure_coding:
        arguments += ["-erasureCodePolicy", setting.erasure_coding]
    return (*arguments, "-resFile", result_file)


def _on_given(given: GivenCluster | None) -> dict[str, str]:
    if given is None:
        return {}
    return {
        "mapreduce.job.queuename": given.queue,
        "mapreduce.job.tags": JOB_TAG,
        "yarn.app.mapreduce.am.staging-dir": given.staging,
        "mapreduce.jobhistory.intermediate-done-dir": given.history,
        "mapreduce.jobhistory.jhist.format": "json",  # else binary, which only Hadoop reads
    }


def size_argument_bytes(setting: DfsioSetting) -> int:
    """The tool's `-size` for one file. For a read it is the amount to read, not the file's length: a skip
    gets what its reads can return, because the tool stops early and silently if asked for the whole
    file. For a truncate it is the remaining length."""
    if setting.mode == "truncate":
        return setting.file_bytes - setting.bytes_per_file
    return setting.bytes_per_file


def processed_bytes(setting: DfsioSetting) -> tuple[int, int]:
    """Minimum and maximum that a complete job reports. A random read near the file's end is short, and
    the stream then reads once more; so does a backward read if the read size does not divide the file."""
    minimum = setting.asked_bytes
    if setting.mode in ("random", "backward"):
        return minimum, minimum + setting.files * setting.read_size_bytes
    return minimum, minimum


def distinct_bytes(setting: DfsioSetting, stored_bytes: int | None = None) -> int:
    """Bytes of the files that a read requests at least once.

    Random offsets are drawn with replacement, so m = size / read reads of a file are expected to
    touch 1 - (1 - read/size)^m of it (63 % for large m); a skip touches what it reads, once.
    A compressed file holds less than the job reads from it: then the result is `stored_bytes`, the
    length of all files.
    """
    if setting.compression is not None and stored_bytes is not None:
        return stored_bytes
    if setting.mode != "random":
        return setting.asked_bytes
    size = setting.file_bytes
    read = min(setting.read_size_bytes, size)
    return int(setting.files * size * (1 - (1 - read / size) ** -(-size // read)))


def length_after_bytes(setting: DfsioSetting) -> int:
    """Uncompressed length of one file after the job."""
    change = {"append": setting.bytes_per_file, "truncate": -setting.bytes_per_file}
    return setting.file_bytes + change.get(setting.mode, 0)
