"""A small study on a simulated cluster, and what it wrote."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.security.lossless.each_write import run

SPEC = """
study: tiny
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1, 2]}
repetitions: 1
workloads:
  - ycsb: {records: [5000], mixes: [load, read45-insert55], threads: [2], duration: 60 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""


@contextmanager
def without_analysis() -> Iterator[None]:
    """Commands leave out the analysis, which has tests of its own."""
    import density_study.jobs.pipeline as pipeline

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "analyse", lambda _: None)
        yield


def rehearse(spec: Path, place: Path) -> int:
    return run("rehearse", spec, "--rehearsals", place, "--json")


def kinds(seen: list[str], place: Path) -> list[int]:
    """The first and the last write of each kind: of one name but for numbers, by one call."""
    found: dict[str, list[int]] = {}
    for at, write in enumerate(seen):
        kind = re.sub(r"[0-9a-f]{32}|[0-9a-f]{8}\.\d+|\d+", "#", write.replace(str(place), ""))
        found.setdefault(kind, []).append(at)
    return sorted({at for every in found.values() for at in (every[0], every[-1])})


def recorded(place: Path) -> dict[str, str]:
    """SHA-256 of each file of the closed records."""
    files = (path for path in place.glob("*/*/records/*/**/*") if path.is_file())
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if ".open" not in path.parts[-3]
    }
