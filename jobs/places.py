"""Where a run lies: a folder of this machine, or a URI that fsspec and Spark understand."""

from __future__ import annotations

from pathlib import Path
from typing import cast


def place(text: str) -> Path:
    """A path, or what behaves like one for a URI (hdfs://..., s3://...)."""
    if "://" not in text:
        return Path(text)
    from upath import UPath  # not needed, and not loaded, for local runs

    return cast(Path, UPath(text))


def is_local(path: Path) -> bool:
    return "://" not in str(path)
