"""How many bytes a TestDFSIO job is asked for, processes, and touches (method 5, 16). Pure.

Source: the mappers of `org.apache.hadoop.fs.TestDFSIO`, Hadoop 3.4.2.
"""

from __future__ import annotations

from workloads.testdfsio.setting import DfsioSetting


def asked_bytes(setting: DfsioSetting) -> int:
    """What all streams together are to process: files x what each does, known before the job."""
    return setting.files * _each_bytes(setting)


def size_argument_bytes(setting: DfsioSetting) -> int:
    """The tool's `-size` for one file. Of a read it is what to read, not how long the file is: a skip
    gets what its reads can give, since asked for the whole file it stops early and says nothing. Of
    a truncate it is the length left."""
    if setting.mode == "truncate":
        return _file_bytes(setting) - _each_bytes(setting)
    return _each_bytes(setting)


def processed_bytes(setting: DfsioSetting) -> tuple[int, int]:
    """Least and most that a whole job reports. A random read near the file's end is short, and the
    stream then reads once more; so does a backward read where the size of a read divides no file."""
    least = asked_bytes(setting)
    if setting.mode in ("random", "backward"):
        return least, least + setting.files * setting.read_size_bytes
    return least, least


def distinct_bytes(setting: DfsioSetting, stored_bytes: int | None = None) -> int:
    """Bytes of the files that a read asks for at least once.

    Random offsets are drawn with replacement, so m = size / read reads of a file are expected to
    touch 1 - (1 - read/size)^m of it (63 % for many reads); a skip touches what it reads, once.
    A compressed file holds less than is read of it: then it is `stored_bytes`, all the files' length.
    """
    if setting.compression is not None and stored_bytes is not None:
        return stored_bytes
    if setting.mode != "random":
        return asked_bytes(setting)
    size = _file_bytes(setting)
    read = min(setting.read_size_bytes, size)
    return int(setting.files * size * (1 - (1 - read / size) ** -(-size // read)))


def length_after_bytes(setting: DfsioSetting) -> int:
    """Length of one file when the job is over, uncompressed."""
    change = {"append": _each_bytes(setting), "truncate": -_each_bytes(setting)}
    return _file_bytes(setting) + change.get(setting.mode, 0)


def _file_bytes(setting: DfsioSetting) -> int:
    return setting.file_size_mib * 2**20


def _each_bytes(setting: DfsioSetting) -> int:
    size = _file_bytes(setting)
    if setting.mode == "skip":
        return _skipped_through(size, setting)
    return size // 2 if setting.mode == "truncate" else size


def _skipped_through(size: int, setting: DfsioSetting) -> int:
    """Reads begin at 0 and then every read + skip bytes, to the file's end; the last may be short."""
    read = setting.read_size_bytes
    stride = read + (setting.skip_size_bytes or read)
    whole = (size - 1) // stride
    return whole * read + min(read, size - whole * stride)
