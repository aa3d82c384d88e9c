"""TestDFSIO's command line for a setting. Pure.

Source: `org.apache.hadoop.fs.TestDFSIO.run`, Hadoop 3.4.2. The tool reads a size without a unit as MB, and
rejects `1M`: every size is passed in bytes, with its B.
"""

from __future__ import annotations

from workloads.testdfsio.amount import size_argument_bytes
from workloads.testdfsio.setting import READS, DfsioMode, DfsioSetting

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


def job_arguments(setting: DfsioSetting, base: str, result_file: str) -> tuple[str, ...]:
    """The job's arguments: files below `base` on HDFS, result appended to the local `result_file`.

    Policies apply only to writes. Readers apply only to reads, by MapReduce's limit on running maps.
    """
    return (
        *("-D", f"test.build.data={base}"),
        *_limit(setting),
        *FLAGS[setting.mode],
        *("-nrFiles", str(setting.files)),
        *("-size", f"{size_argument_bytes(setting)}B"),
        *("-bufferSize", str(setting.read_size_bytes)),
        *_skip(setting),
        *_stored_as(setting),
        *("-resFile", result_file),
    )


def _limit(setting: DfsioSetting) -> tuple[str, ...]:
    if setting.readers is None or setting.mode not in READS:
        return ()
    return ("-D", f"mapreduce.job.running.map.limit={setting.readers}")


def _skip(setting: DfsioSetting) -> tuple[str, ...]:
    if setting.mode != "skip":
        return ()
    return ("-skipSize", f"{setting.skip_size_bytes or setting.read_size_bytes}B")


def _stored_as(setting: DfsioSetting) -> tuple[str, ...]:
    codec = ("-compression", CODECS[setting.compression]) if setting.compression else ()
    if setting.mode != "write":
        return codec
    policy = ("-storagePolicy", setting.storage_policy) if setting.storage_policy else ()
    coding = ("-erasureCodePolicy", setting.erasure_coding) if setting.erasure_coding else ()
    return (*codec, *policy, *coding)
