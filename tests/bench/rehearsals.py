"""Rehearsals of 10, 100 and 1,000 trials: does a trial cost more in a longer study?

Each stage's time per trial, of the longest over that of the middle one; and of the steps alone the last tenth
over the first.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from density_study.cluster.providers.simulated.effects import Effects
from density_study.cluster.providers.simulated.noise import Noise
from density_study.dags.stages.rehearsal import Foreseen, foreseen, perform
from density_study.jobs import pipeline
from density_study.workloads.study.study_file import parse_study
from tests.bench.measurement import Measurement, at_most, printed

TRIALS = tuple(int(text) for text in os.environ.get("BENCH_TRIALS", "10,100,1000").split(","))
GOAL = 1.3
STUDY = """\
study: rehearsed
provider: physical
ssh: {user: nobody}
hosts:
  - {name: m, address: 192.0.2.1, cores: 8, memory: 24 GiB, roles: [master, client]}
  - {name: w1, address: 192.0.2.2, cores: 8, memory: 24 GiB, roles: [worker],
     disks: [{path: /data/1, disk_type: hdd}, {path: /data/2, disk_type: flash}]}
factors: {vms_per_host: [0], disk_type: [hdd, flash]}
stack: {replication: 1}
workloads:
  - testdfsio: {modes: [write, read, random], files: 8, file_size: 256 MiB, read_size: 1 MiB}
  - ycsb: {records: [1000000], mixes: [b, e], threads: [24], duration: 10 min, warm_up: 60 s}
"""


def bench(_: int) -> list[Measurement]:
    """One run of each size: the longest takes minutes."""
    with tempfile.TemporaryDirectory(prefix="density-bench-") as folder:
        found = [dict(_stages(Path(folder) / str(trials), trials)) for trials in TRIALS]
    *_, middle, longest = found
    lines = []
    for name, each_ms in longest.items():
        if name != "steps, last tenth over first":
            lines.append(printed(f"{name}, {TRIALS[-1]:,} trials", "ms/trial", [each_ms]))
            ratio = each_ms / middle[name]
            what = f"{name}: a trial among {TRIALS[-1]:,} over one among {TRIALS[-2]:,}"
            lines.append(at_most(what, "ratio", [ratio], GOAL))
        else:
            lines.append(at_most(name, "ratio", [each_ms], GOAL))
    return lines


def _stages(folder: Path, trials: int) -> Iterator[tuple[str, float]]:
    """Milliseconds per trial of each stage, and the growth of the steps."""
    folder.mkdir()
    file = parse_study(STUDY, "rehearsed.yaml", {"repetitions": trials // 10})
    seen = foreseen(file, folder, Effects(), Noise())
    times = [time.monotonic()]
    root = perform(seen, folder, lambda _: times.append(time.monotonic()))
    steps = [after - before for before, after in pairwise(times[1:])]
    yield "steps", 1e3 * sum(steps) / trials
    tenth = max(1, len(steps) // 10)
    yield "steps, last tenth over first", sum(steps[-tenth:]) / sum(steps[:tenth])
    pipeline.prepare()
    pipeline.import_libraries()
    for stage in pipeline.STAGES:
        yield f"analysis, {stage}", _ms(lambda: pipeline.run_stage(stage, root), trials)  # noqa: B023
    yield "drawn", _drawn_ms(seen, trials)


def _drawn_ms(seen: Foreseen, trials: int) -> float:
    once = _ms(lambda: seen.decided(1), trials)
    return (_ms(lambda: seen.decided(11), trials) - once) / 10


def _ms(act: Callable[[], object], trials: int) -> float:
    begun = time.monotonic()
    act()
    return 1e3 * (time.monotonic() - begun) / trials
