"""`Noise`: how much results of a simulated cluster vary though nothing changed, and the draws themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from zlib import crc32

import numpy as np

from density_study.cluster.model.errors import InputError

_PART = re.compile(r"(nights|builds|trials|seconds)=(\d+(?:\.\d+)?)%")


@dataclass(frozen=True)
class Noise:
    """Standard deviations of the logarithm of the speed. `nights`: what all variants of a repetition have in
    common. `builds`, `trials`: those of each by itself. `seconds`: those of a trial's intervals, around its
    own speed."""

    nights: float = 0.05
    builds: float = 0.025
    trials: float = 0.01
    seconds: float = 0.1

    @classmethod
    def parse(cls, text: str) -> Noise:
        """`builds=5%,nights=0%`; parts that are not named keep their default. InputError otherwise."""
        given = {}
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            match = _PART.fullmatch(part)
            if match is None or match[1] in given or float(match[2]) > 100:
                raise InputError(
                    f"{part[:60]!r} is not a part of the noise.",
                    "--noise",
                    "write nights, builds, trials or seconds once, at most 100 %: builds=2.5%,nights=5%.",
                )
            given[match[1]] = float(match[2]) / 100
        return cls(**given)

    @property
    def words(self) -> str:
        return ", ".join(
            f"{100 * getattr(self, one.name):g} % of {one.name}" for one in fields(self)
        )


SILENT = Noise(0.0, 0.0, 0.0, 0.0)


def draws(seed: int, *names: object) -> np.random.Generator:
    """Random numbers of what these names say: the same ones in whatever order trials run."""
    return np.random.default_rng([seed, *(crc32(str(name).encode()) for name in names)])


def log_speed(noise: Noise, seed: int, repetition: int, build: str, trial: str) -> float:
    """The logarithm of a trial's speed over that of a cluster without noise."""
    parts = (
        (noise.nights, ("night", repetition)),
        (noise.builds, ("build", build)),
        (noise.trials, ("trial", trial)),
    )
    return sum(
        spread * float(draws(seed, *names).standard_normal()) for spread, names in parts if spread
    )
