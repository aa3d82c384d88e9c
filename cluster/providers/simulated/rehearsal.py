"""`Rehearsal`: what a simulated run takes for true: effects, noise and seed; kept in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.effects import Effects
from density_study.cluster.providers.simulated.noise import Noise, log_speed
from density_study.cluster.state import atomic
from density_study.cluster.state.plain_file import read_plain, why_unread

FILE = "rehearsal.json"
MAX_BYTES = 2**24


@dataclass(frozen=True)
class Rehearsal:
    """`base`: the first variant of the study, which the others resemble where effects say so."""

    base: Topology
    effects: Effects
    noise: Noise
    seed: int

    def as_if(self, topology: Topology, mode: str) -> Topology:
        """The topology whose queueing network runs `mode`."""
        return self.base if self.effects.are_alike(mode) else topology

    def log_speed(
        self, topology: Topology, mode: str, repetition: int, build: str, trial: str
    ) -> float:
        """The logarithm of a trial's speed, over what only the queueing network gives."""
        drawn = log_speed(self.noise, self.seed, repetition, build, trial)
        return self.effects.log_speed(topology, mode) + drawn


_ADAPTER: TypeAdapter[Rehearsal] = TypeAdapter(Rehearsal)


def is_rehearsal(root: Path) -> bool:
    """Whether the folder is that of a rehearsal."""
    return (root / FILE).exists()


def write_rehearsal(root: Path, rehearsal: Rehearsal) -> None:
    atomic.write_text(root / FILE, _ADAPTER.dump_json(rehearsal, indent=2).decode() + "\n")


def read_rehearsal(root: Path) -> Rehearsal:
    """StudyError if the run in `root` is not a rehearsal."""
    try:
        return _parsed(read_plain(root / FILE, MAX_BYTES))
    except (OSError, ValidationError) as error:
        raise StudyError(
            f"this is not a rehearsal: {why_unread(error)}.",
            str(root / FILE),
            "rehearse the study again: study rehearse SPEC.",
        ) from error


@lru_cache(maxsize=4)
def _parsed(data: bytes) -> Rehearsal:
    return _ADAPTER.validate_json(data)
