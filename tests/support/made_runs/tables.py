"""A run that has tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from density_study.workloads.tables import TABLES
from density_study.workloads.tables.store import write_rows

FIRST, SECOND = "20261114T020003Z", "20261121T020003Z"


def run(folder: Path, name: str, **rows: list[Mapping[str, Any]]) -> Path:
    """A run with two trials; every table that `rows` does not name is empty."""
    root = folder / "runs" / "nightly" / name
    rows.setdefault(
        "trials", [{"study": "nightly", "run": name, "trial": trial} for trial in ("t1", "t2")]
    )
    rows.setdefault("verdicts", [{"trial": "t1", "verdict": "valid", "reasons": ["a", "b"]}])
    rows.setdefault("bring_up", [{"build": "b1", "position": 0, "seconds": 1.5}])
    for table in TABLES.values():
        write_rows(root, table, rows.get(table.name, []))
    return root
