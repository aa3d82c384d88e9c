"""Distinct bytes a TestDFSIO read asks for: what physical reads are held against (method 5, 16)."""

from __future__ import annotations

from workloads.testdfsio.setting import DfsioSetting


def distinct_bytes(setting: DfsioSetting) -> int:
    """Bytes of the files that are asked for at least once.

    Random offsets are drawn with replacement, so m = size / read reads of a file are expected to
    touch 1 - (1 - read/size)^m of it (63 % for many reads); the default skip, one read's size, leaves out
    every other read; sequential and backward reads touch all.
    """
    size = setting.file_size_mib * 2**20
    read = min(setting.read_size_bytes, size)
    share = 1.0
    if setting.mode == "random":
        share = 1 - (1 - read / size) ** -(-size // read)
    elif setting.mode == "skip":
        share = 0.5
    return int(setting.files * size * share)
