"""Is the load the same whatever the threads, the clients, the duration and the mix?

Keys are drawn by the classes of the client, with the arguments that each YCSB test case of each shipped study
gives it. The expected shares come from the definition of the distribution alone.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from density_study.workloads.study.shipped import shipped_studies
from density_study.workloads.study.study_file import read_study
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.known_answers.answer import Answer, KnownAnswer
from tests.live.support.java_client import compiled, java_argv

DRAWS = 200_000
THETA = 0.99
ZETA = 26.46902820178302
"""The sum of 1 / rank^0.99 over the 10^10 ranks of YCSB's scrambled zipfian distribution."""
RANKS = 1_000_000
"""Ranks whose rows are computed; the mass of the others is spread evenly by the hash."""
HOTTEST = 1000
TOLERANCE = 0.10

Shares = NDArray[np.float64]
Keys = NDArray[np.int64]


@dataclass(frozen=True)
class Draw:
    """Keys that one client drew. `name`: study, test case, client."""

    name: str
    test_case: YcsbTestCase
    keys: Keys


def fnv(ranks: NDArray[np.uint64]) -> Keys:
    """YCSB's 64-bit FNV hash of each rank, as a number that is not negative."""
    found = np.full(ranks.shape, 0xCBF29CE484222325, np.uint64)
    with np.errstate(over="ignore"):
        for octet in range(8):
            found ^= (ranks >> np.uint64(8 * octet)) & np.uint64(0xFF)
            found *= np.uint64(1099511628211)
    return np.abs(found.view(np.int64))


def zipfian(rows: int) -> Shares:
    """The expected share of each row: a rank's row is the rank's hash modulo the number of rows."""
    ranks = np.arange(RANKS, dtype=np.uint64)
    mass = 1.0 / (ranks.astype(float) + 1) ** THETA / ZETA
    shares: Shares = np.bincount(fnv(ranks) % rows, weights=mass, minlength=rows)
    return shares + (1.0 - mass.sum()) / rows


def latest(rows: int) -> Shares:
    """The newest row is the hottest; before the first insert, that is the last row that was loaded."""
    mass = 1.0 / np.arange(1, rows + 1, dtype=float) ** THETA
    return (mass / mass.sum())[::-1]


@cache
def hottest(name: str, rows: int) -> list[tuple[Keys, float]]:
    """The hottest row and the ten hottest rows, each with the expected share of its part."""
    expected = zipfian(rows) if name == "zipfian" else latest(rows)
    ten = np.argpartition(expected, -10)[-10:]
    one = ten[[int(expected[ten].argmax())]]
    return [(part, float(expected[part].sum())) for part in (one, ten)]


def deviation(draw: Draw) -> float:
    """The largest relative deviation of the share of the hottest row and of the ten hottest rows; of evenly
    spread keys, of the share of each tenth of the rows."""
    rows, name = draw.test_case.records, draw.test_case.distribution.name
    if name in ("zipfian", "latest"):
        found = [np.isin(draw.keys, part).mean() / share for part, share in hottest(name, rows)]
        return max(abs(ratio - 1) for ratio in found)
    if name in ("uniform", "sequential"):
        tenths = np.histogram(draw.keys, bins=10, range=(0, rows))[0] / len(draw.keys)
        return float(np.abs(tenths / 0.1 - 1).max())
    raise NotImplementedError(name)


def drawn(
    test_cases: Mapping[str, YcsbTestCase], draws: int = DRAWS, phase: str = "trial"
) -> Iterable[Draw]:
    """What the first client of each test case draws."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            "\t".join(
                (str(folder / str(n)), str(draws), phase, *client_arguments(test_case, "/r/"))
            )
            for n, test_case in enumerate(test_cases.values())
        ]
        path = compiled(folder, "KeyDraws")
        main = "org.densitystudy.ycsb.KeyDraws"
        argv, text = java_argv(path, main), "\n".join(lines)
        done = subprocess.run(argv, input=text, text=True, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        for n, (label, test_case) in enumerate(test_cases.items()):
            keys = np.fromfile(folder / str(n), dtype=">i8").astype(np.int64)
            yield Draw(label, test_case, keys)


def shipped(studies: Iterable[str] | None = None) -> dict[str, YcsbTestCase]:
    """Every test case of the shipped studies that draws keys of YCSB's core workload, at a known rate."""
    found = {}
    for name in sorted(studies or shipped_studies()):
        for test_case in read_study(shipped_studies()[name]).study.test_cases():
            if (
                isinstance(test_case, YcsbTestCase)
                and not test_case.is_load
                and not test_case.variants
            ):
                rate = (
                    test_case.at_rate(1000.0)
                    if test_case.phase or test_case.target_percent
                    else test_case
                )
                found[f"{name} {test_case.id}"] = rate
    return found


def skew(studies: Iterable[str] | None = None) -> list[Answer]:
    worst: dict[str, tuple[float, str]] = {}
    test_cases = shipped(studies)
    for draw in drawn(test_cases):
        name = draw.test_case.distribution.name
        worst[name] = max(worst.get(name, (0.0, "")), (deviation(draw), draw.name))
    return [
        Answer(
            f"{name}: largest deviation of the share of the hottest row and of the ten hottest "
            f"from theory, over {sum(s.distribution.name == name for s in test_cases.values())} test cases",
            f"at most {TOLERANCE:.0%}",
            f"{value:.1%} ({where})",
            bool(value <= TOLERANCE),
        )
        for name, (value, where) in worst.items()
    ]


def overlap() -> list[Answer]:
    """Of the trial's hottest rows, those that are among the warm-up's. Enough draws for the last of them."""
    draws = 20_000_000
    studies = {
        f"{s.records} {s.mix}": s for s in shipped(["talk-2013"]).values() if s.is_saturation
    }
    trials = drawn(studies, draws)
    pairs = zip(trials, drawn(studies, draws, "warm-up"), strict=True)
    found = {trial.name: shared(trial, warm) for trial, warm in pairs}
    where, least = min(found.items(), key=lambda one: one[1])
    return [
        Answer(
            f"rows shared by the {HOTTEST} hottest of warm-up and trial, talk-2013",
            "at least 95%",
            f"{least:.1%} ({where})",
            least >= 0.95,
        )
    ]


def shared(one: Draw, other: Draw) -> float:
    sets = [set(np.argsort(np.bincount(draw.keys))[-HOTTEST:].tolist()) for draw in (one, other)]
    return len(sets[0] & sets[1]) / HOTTEST


KNOWN = (
    KnownAnswer(
        "key-skew",
        "Are keys as skewed as the study says, at any number of threads?",
        skew,
        quick=False,
    ),
    KnownAnswer(
        "warm-up-keys", "Does the warm-up read the rows that the trial reads?", overlap, quick=False
    ),
)
