"""`Factor`: what a comparison of two levels of a factor asks, for every factor alike.

An arm is one level of every factor. Two arms are compared by one factor only if they agree in all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from density_study.analysis.findings.arms import Pair
from density_study.analysis.findings.question import FALLS, RISES, Evidence, Rule
from density_study.analysis.summary.summary import UNKNOWN_LEVEL, Level, SettingSummary
from density_study.cluster.model.store import words_of
from density_study.workloads.study.factors import FACTORS as NAMES
from density_study.workloads.study.factors import OF_CLUSTERS, FactorName

FASTER = {"rate": RISES, "cpu": RISES, "latency": FALLS, "recovery": FALLS}
BUSIER = {"rate": RISES, "cpu": RISES, "recovery": FALLS}
CHEAPER = {"rate": RISES, "cpu": FALLS, "latency": FALLS, "recovery": FALLS}
_MEDIA = ("hdd", "flash")


@dataclass(frozen=True)
class Factor:
    """`effect` begins its families' names. `rules`: what is asked of which measure, fixed before any data.

    `words` name a level. `about` says whose obstacles apply. `baseline`: every later level is compared with
    the first one; otherwise only the highest with the lowest, as each further comparison costs power.
    """

    name: FactorName
    effect: str
    rules: Mapping[str, Rule]
    words: Callable[[Evidence, Level], str]
    about: Literal["density", "media", "unknown"] = "media"
    baseline: bool = False

    def obstacles(self, evidence: Evidence, pair: Pair) -> tuple[str, ...]:
        about = {"density": evidence.about_density, "media": evidence.about_media}
        return about.get(self.about, evidence.about_unknown)(*pair)


def _density(evidence: Evidence, level: Level) -> str:
    return evidence.density(int(level or 0))


def _servers(_: Evidence, level: Level) -> str:
    return f"{level} RegionServer{'s' if level != 1 else ''} per node"


def _as_named(_: Evidence, level: Level) -> str:
    return str(level)


def _store(_: Evidence, level: Level) -> str:
    return words_of(str(level))


FACTORS = (
    # first: what given clusters differ in otherwise is only declared
    Factor("cluster", "cluster", CHEAPER, _as_named, about="unknown", baseline=True),
    Factor("vms_per_host", "density", FASTER, _density, about="density"),
    Factor("medium", "medium", FASTER, _as_named),
    Factor("regionservers_per_node", "control", BUSIER, _servers),
    Factor("store", "store", CHEAPER, _store, baseline=True),
    Factor("stack", "stack", CHEAPER, _as_named, baseline=True),
    Factor("configuration", "configuration", CHEAPER, _as_named, baseline=True),
    Factor("tier", "tier", CHEAPER, _as_named, baseline=True),
    Factor("network", "network", CHEAPER, _as_named, baseline=True),
)


def factor_of(name: str) -> Factor:
    return next(factor for factor in FACTORS if factor.name == name)


def held_equal(compared: str) -> tuple[str, ...]:
    """The factors on which the arms of a comparison agree: all others. Density and medium of given clusters
    are facts about them, which differ along with the cluster."""
    along = (
        OF_CLUSTERS if compared == "cluster" else ("cluster",) if compared in OF_CLUSTERS else ()
    )
    return tuple(name for name in NAMES if name not in (compared, *along))


def others(entry: SettingSummary, compared: str) -> tuple[Level, ...]:
    return tuple(entry.level(name) for name in held_equal(compared))


def levels(settings: Sequence[SettingSummary], factor: str) -> tuple[Level, ...]:
    """The factor's levels, lowest first; those that have names in the study's order."""
    found = (entry.level(factor) for entry in settings)
    seen = dict.fromkeys(level for level in found if level not in (None, UNKNOWN_LEVEL))
    if factor == "medium":
        return tuple(medium for medium in _MEDIA if medium in seen)
    if all(isinstance(level, int) for level in seen):
        return tuple(sorted(seen, key=int))
    return tuple(seen)


def baseline(
    entries: Iterable[SettingSummary], settings: Sequence[SettingSummary], *factors: str
) -> tuple[SettingSummary, ...]:
    """Entries with the first level of each of these factors in `settings`: no control arm, no later
    version."""
    first = {name: (*levels(settings, name)[:1], None) for name in factors}
    return tuple(
        entry for entry in entries if all(entry.level(name) in first[name] for name in factors)
    )


def pairs(settings: Sequence[SettingSummary], factor: Factor) -> Iterator[Pair]:
    """The two arms of each comparison by the factor, at equal setting and other levels."""
    alike: dict[tuple[object, ...], dict[Level, SettingSummary]] = {}
    for entry in settings:
        key = (entry.setting, *others(entry, factor.name))
        alike.setdefault(key, {}).setdefault(entry.level(factor.name), entry)
    order = levels(settings, factor.name)
    for arms in alike.values():
        present = [arms[level] for level in order if level in arms]
        for later in present[1:] if factor.baseline else present[1:][-1:]:
            yield present[0], later
