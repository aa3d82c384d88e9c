"""What a study's repetitions can show, computed before it runs: method 2, for `study plan` and `run`.

The comparisons are those of analysis/findings, on synthetic settings with one point per repetition, so
that each family has exactly the size that will be tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from density_study.analysis.findings import effects
from density_study.analysis.findings.question import Evidence
from density_study.analysis.findings.sharpness import compared
from density_study.analysis.statistics.power import (
    ASSUMED_SPREAD,
    MAX_UNITS,
    MIN_UNITS,
    detectable_ratio,
    power,
    units_needed,
)
from density_study.analysis.summary.summary import UNKNOWN_LEVEL, Metric, SettingSummary
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.workloads.base.setting import Setting
from density_study.workloads.planning.plan import Plan
from density_study.workloads.record.given import recorded
from density_study.workloads.study.registry import kind_of
from density_study.workloads.study.study import Study

# Default ratio for which `study plan` computes the repetitions: the talk's gain per added VM.
WANTED_RATIO = 1.2
_TOO_FEW = f"a claim needs {MIN_UNITS} builds per arm"
SPREADS = (0.025, 0.05, 0.1)
"""Between builds: what is unknown before the first run. The chances show what depends on it."""


@dataclass(frozen=True)
class Noise:
    """Variation between builds of a topology (standard deviation of logarithms), and its source. within: what
    is left of it in one repetition, after what the repetition has in common; None: as much."""

    spread: float = ASSUMED_SPREAD
    source: str = f"assumed {ASSUMED_SPREAD:.1%} between builds"
    within: float | None = None

    @property
    def paired(self) -> float:
        """The noise of a comparison that is paired by repetition."""
        return self.spread if self.within is None else self.within


def families(study: Study, plan: Plan) -> Mapping[str, int]:
    """Comparisons in each family that this plan will test, effects first, then `expect:`."""
    evidence = _imagined(study, plan)
    asked = (*effects.questions(evidence), *effects.expected(evidence, study.expect))
    return Counter(question.family for question in asked)


def _imagined(study: Study, plan: Plan) -> Evidence:
    settings = tuple(
        made_up(topology, setting, (1.0,) * plan.repetitions)  # only how many there are matters
        for setting in study.settings()
        for topology in plan.topologies.values()
    )
    return Evidence(settings, plan.repetitions, "vm")


def check_can_be_sharp(study: Study, plan: Plan, where: str) -> None:
    """InputError if repetitions should end once comparisons are sharp, and there is none."""
    if plan.sharp is None or compared(_imagined(study, plan), study.expect):
        return
    raise InputError(
        "no throughput is compared, so no repetition would ever be the last one needed.",
        f"{where}, key repetitions.until",
        "compare at least two levels of a factor, without target rates, or give a number of repetitions.",
    )


def check_can_claim(study: Study, plan: Plan, where: str) -> None:
    """InputError if the study declares hypotheses and none could ever be significant."""
    found = families(study, plan)
    declared = any(family.startswith("expect-") for family in found)
    if not declared or plan.repetitions >= MIN_UNITS:
        return
    raise InputError(
        f"no hypothesis can ever be decided with {plan.repetitions} build(s) per arm: {_TOO_FEW}.",
        f"{where}, key expect",
        f"use at least {MIN_UNITS} repetitions, or remove expect.",
    )


def notes(
    found: Mapping[str, int], plan: Plan, noise: Noise, wanted: float = WANTED_RATIO
) -> Iterator[str]:
    """What each family that was found can detect, one line per family."""
    if plan.sharp is not None and plan.sharp.until is not None:
        reach = f"{100 * plan.sharp.until:g} %"
        yield f"repetitions end once each ratio of throughput is decided, or known to within {reach}"
        return
    for family, size in found.items():
        name = f"{family} ({size} comparison{'s' if size > 1 else ''})"
        least = detectable_ratio(plan.repetitions, noise.paired, size)
        yield (
            f"{name}: can never be significant, {_TOO_FEW}"
            if least is None
            else f"{name}: detects a ratio of {least:.3g} or more with a power of 80 %"
        )
    largest = max(found.values(), default=0)
    if largest and plan.repetitions >= MIN_UNITS:
        chances = ", ".join(
            f"{power(wanted, plan.repetitions, spread, largest):.0%} at {spread:.1%}"
            for spread in SPREADS
        )
        yield (
            f"chance to detect a ratio of {wanted:g} in the largest family, by spread between builds of a "
            "repetition: "
            f"{chances}"
        )
    if largest:
        needed = units_needed(wanted, noise.paired, largest)
        repetitions = f"{needed} repetitions" if needed else f"more than {MAX_UNITS} repetitions"
        yield f"a ratio of {wanted:g} needs {repetitions} in the largest family ({noise.source})"


def made_up(topology: Topology, setting: Setting, points: tuple[float, ...]) -> SettingSummary:
    """A setting with these points of every measure, of which only the rate's may be meant."""
    kind = kind_of(setting.workload)
    fields = {"name": kind.rate, "value": 1.0, "unit": kind.rate_unit, "points": points}
    rate = Metric.model_validate(fields)
    cpu = Metric(name="cpu_used", value=1.0, unit="percent", points=points, scope="host:any")
    recovery = Metric(name="time_to_recover", value=1.0, unit="s", points=points)
    arm = recorded(topology)  # of a given cluster, what the study says
    return SettingSummary(
        topology=topology.name,
        vms_per_host=UNKNOWN_LEVEL if arm.vms_per_host is None else arm.vms_per_host,
        regionservers_per_node=UNKNOWN_LEVEL
        if arm.regionservers_per_node is None
        else arm.regionservers_per_node,
        medium=arm.medium,
        levels=dict(topology.levels),
        setting=setting.id,
        workload=setting.workload,
        label=setting.id,
        n_builds=len(points),
        metrics=(rate, cpu, recovery, *_latencies(setting, points)),
        mode=setting.mode_name,
        neighbour=setting.summary_fields().get("neighbour"),
        fault=setting.summary_fields().get("fault"),
        phase=setting.summary_fields().get("phase"),
        sought=setting.summary_fields().get("sought"),
        target_ops_s=1.0 if setting.is_paced else None,  # only its presence matters here
    )


def _latencies(setting: Setting, points: Sequence[float]) -> Iterator[Metric]:
    for operation in setting.latency_operations:
        for percentile in (50.0, 90.0, 95.0, 99.0, 99.9):
            yield Metric(
                name="latency", value=1.0, unit="ms", operation=operation,
                latency_kind="closed-loop", percentile=percentile, points=tuple(points),
            )  # fmt: skip
