"""`Question`: the input of sizing: genomes per day, and the SLOs to meet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from density_study.analysis.capacity.inputs.unit import parse_unit
from density_study.cluster.model.errors import InputError

MOST_PER_DAY = 1_000_000
"""Genomes: ten times what all sequencers of the world produce."""
TERM = re.compile(r"(turnaround|query)_p(\d{1,2}(?:\.\d+)?)=(\d+(?:\.\d+)?)\s*([a-z]+)", re.ASCII)


@dataclass(frozen=True)
class Slo:
    """`about` (turnaround or query) at most `limit_s` for `percentile` percent."""

    about: str
    percentile: float
    limit_s: float

    def __str__(self) -> str:
        hours = self.limit_s >= 3600
        value = f"{self.limit_s / 3600:g} h" if hours else f"{self.limit_s:g} s"
        return f"{self.about} p{self.percentile:g} <= {value}"


@dataclass(frozen=True)
class Question:
    genomes_per_day: float
    turnaround: Slo | None = None
    query: Slo | None = None
    draws: int = 1000
    seed: int = 20130226
    mapped: tuple[
        tuple[str, str], ...
    ] = ()  # (resource, group) from --measured-by, replaces patterns

    @property
    def slos(self) -> tuple[str, ...]:
        return tuple(str(slo) for slo in (self.turnaround, self.query) if slo is not None)


def parse_promises(texts: Sequence[str]) -> tuple[Slo, ...]:
    """`turnaround_p95=24h` as an SLO. InputError if the text is not one, or if two concern the same."""
    found = [_promise(text) for text in texts]
    if len({one.about for one in found}) < len(found):
        raise InputError("two SLOs concern the same quantity.", "--slo", "give each once.")
    return tuple(found)


def _promise(text: str) -> Slo:
    match = TERM.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError("the form must be turnaround_p95=24h")
        unit = parse_unit(match[4])
        limit = float(match[3]) * unit.factor
        if unit.kind != "time" or not limit > 0 or not 0 < float(match[2]) < 100:
            raise ValueError("the time must be positive and the percentile between 0 and 100")
    except ValueError as error:
        raise InputError(
            f"{text!r}: {error}.", "--slo", "write turnaround_p95=24h or query_p95=3s."
        ) from error
    return Slo(match[1], float(match[2]), limit)


def check_load(genomes_per_day: float, option: str) -> None:
    """InputError for a load that is not positive, or that no site has."""
    if not 0 < genomes_per_day <= MOST_PER_DAY:
        raise InputError(
            f"a load of {genomes_per_day:g} genomes per day is not plausible: above 0 and at most "
            f"{MOST_PER_DAY:,}; is it per year?",
            option,
            "give the genomes of one day.",
        )


def question(
    genomes_per_day: float,
    promises: Sequence[Slo],
    mapped: Sequence[str] = (),
    draws: int = 1000,
    seed: int = 20130226,
) -> Question:
    """InputError unless the genomes per day are plausible and the draws enough for a q95."""
    check_load(genomes_per_day, "--genomes-per-day")
    if draws < 100:  # of which a q95 leaves out five
        raise InputError(f"{draws} draws are too few.", "--draws", "give at least 100.")
    pairs = []
    for text in mapped:
        resource, _, group = text.partition("=")
        if not resource or not group:
            raise InputError(
                f"{text!r} names no group.", "--measured-by", "write hbase_write=my-group."
            )
        pairs.append((resource, group))
    by_about = {one.about: one for one in promises}
    turnaround, query = by_about.get("turnaround"), by_about.get("query")
    return Question(genomes_per_day, turnaround, query, draws, seed, tuple(pairs))
