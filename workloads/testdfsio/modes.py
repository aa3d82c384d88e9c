"""TestDFSIO's modes by what they do. Standard library only: Spark's executors load this module."""

from __future__ import annotations

from typing import Literal

DfsioMode = Literal["write", "read", "append", "random", "backward", "skip", "truncate"]

READS: tuple[DfsioMode, ...] = ("read", "random", "backward", "skip")
WRITES: tuple[DfsioMode, ...] = ("write", "append")
# Reads that seek within the file.
POSITIONED: tuple[DfsioMode, ...] = ("random", "backward", "skip")
# Modes that change their files: each has its own files, which are deleted after the trial.
OWN_DATA: tuple[DfsioMode, ...] = ("append", "truncate")
