"""What does a nightly study decide in 90 nights: a drop that is real, and one that is not?

Each night is a rehearsal of the study with another seed. What a night does to the whole run comes on top,
drawn as in `night_effects`. A night is judged as `study compare` judges it, with `rolling 10`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path

import numpy as np

from density_study.analysis.findings.variants import (
    TAIL,
    latency,
    main_operation,
    points_of,
    rate_points,
)
from density_study.analysis.rehearsal.drawn import Drawing
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.providers.simulated.effects import Effect, Effects
from density_study.cluster.providers.simulated.noise import Noise
from density_study.dags.stages.rehearsal import foreseen
from density_study.workloads.study.study_file import parse_study
from tests.known_answers.answer import Answer, KnownAnswer
from tests.known_answers.night_effects import LATENCY, NIGHTS, Levels, Nights, named
from tests.known_answers.report_errors import upper

STUDY = """\
study: nightly
provider: physical
ssh: {user: nobody}
hosts:
  - {name: m, address: 192.0.2.1, cores: 8, memory: 24 GiB, roles: [master, client]}
  - {name: w1, address: 192.0.2.2, cores: 8, memory: 24 GiB, roles: [worker],
     disks: [{path: /data/1, disk_type: flash}]}
factors: {vms_per_host: [0]}
stack: {replication: 1}
workloads:
  - testdfsio: {modes: [write, read], files: 8, file_size: 256 MiB, read_size: 1 MiB}
  - ycsb: {records: [1000000], mixes: [b, e], threads: [24], duration: 2 min, warm_up: 30 s}
schedule: "0 2 * * *"
repetitions: 8
compare: {baseline: rolling 10, tolerance: 5%}
"""
TIMES = 200
DROP, AT, WITHIN = 0.9, 60, 3
SLOWER = Effects("slower", (Effect("vms_per_host", "0", "*", DROP),))
CELLS = (Nights(0.03, 0.0), Nights(0.03, 0.7))


def nightly() -> list[Answer]:
    calm, slow = _drawing(Effects()), _drawing(SLOWER)
    until = AT + WITHIN
    alarms = dict.fromkeys(CELLS, 0)
    found = dict.fromkeys(CELLS, 0)
    for history in range(TIMES):
        before = _levels(calm, history, range(NIGHTS))
        after = _levels(slow, history, range(AT, until))
        for cell in CELLS:
            nights = cell.course(NIGHTS, np.random.default_rng(history)) * _times(calm)
            levels = before + nights
            alarms[cell] += sum(named(levels, at) for at in range(1, NIGHTS))
            changed = np.vstack([levels[:AT], after + nights[AT:until]])
            found[cell] += any(named(changed, at) for at in range(AT, until))
    return [one for cell in CELLS for one in _answers(cell, alarms[cell], found[cell])]


def _answers(cell: Nights, alarms: int, found: int) -> Iterator[Answer]:
    reports = TIMES * (NIGHTS - 1)
    most = upper(alarms, reports)
    yield Answer(
        f"{TIMES} histories of {NIGHTS} rehearsed nights in which nothing changed, {cell}: nightly reports "
        "with a regression",
        "at most 5 %, upper end of the interval at most 8 %",
        f"{alarms / reports:.2%} of {reports:,}, at most {most:.2%}: {alarms / TIMES:.2f} in {NIGHTS} nights",
        alarms <= 0.05 * reports and most <= 0.08,
    )
    yield Answer(
        f"the same, all {1 - DROP:.0%} slower from night {AT} on: named within {WITHIN} nights",
        "at least 80 %",
        f"{found / TIMES:.0%} of {TIMES}",
        found >= 0.8 * TIMES,
    )


def _drawing(effects: Effects) -> Drawing:
    noise = Noise(nights=0.0)  # which comes on top
    seen = foreseen(parse_study(STUDY, "nightly.yaml"), Path("rehearsals"), effects, noise)
    return Drawing(seen.plan, seen.rehearsal)


def _levels(drawing: Drawing, history: int, nights: Sequence[int]) -> Levels:
    """(night, number): logarithms of the means of each run, turned so that lower is worse."""
    every = (_numbers(drawing.test_cases(history * NIGHTS + night)) for night in nights)
    return np.array([[level for level, _ in one] for one in every])


def _times(drawing: Drawing) -> Levels:
    """(number,): how much more than a rate a night moves it."""
    return np.array([LATENCY if is_tail else 1.0 for _, is_tail in _numbers(drawing.truth())])


def _numbers(test_cases: Sequence[TestCaseSummary]) -> Iterator[tuple[float, bool]]:
    """Of each rate and each tail latency its level, and whether it is a latency."""
    for entry in test_cases:
        rates = rate_points(entry)
        yield sum(map(log, rates)) / len(rates), False
        if tail := latency(entry, main_operation(entry) or "", TAIL):
            points = points_of(tail)
            yield -sum(map(log, points)) / len(points), True


KNOWN = (
    KnownAnswer(
        "nightly", "What does a nightly study decide in 90 rehearsed nights?", nightly, quick=False
    ),
)
