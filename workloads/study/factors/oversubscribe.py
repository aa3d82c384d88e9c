"""`factors.oversubscribe`: more memory or cores promised than there are. Faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from density_study.cluster.model.dividing.oversubscription import PLAIN, Oversubscription
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import provider_named
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.factor import BUSIER, Factor, StudyOfFactors

_KEY = ("factors", "oversubscribe")
Times = Annotated[float, Field(strict=True, gt=1, le=8)]


class OversubscriptionSpec(Frozen):
    """A level of the factor `oversubscribe`. The level `none` is written as this word."""

    memory: Times | None = Field(
        None,
        description="Times of each worker's memory that daemons and YARN's containers get together, for "
        "example 1.25. Daemons keep their sizes: the excess is more containers at once.",
    )
    cores: Times | None = Field(
        None,
        description="Times of each host's cores that its workers get together, as quotas of their time.",
    )

    @model_validator(mode="after")
    def _one(self) -> OversubscriptionSpec:
        if (self.memory is None) == (self.cores is None):
            raise ValueError(
                "a level is either memory or cores: what breaks first then has one cause"
            )
        return self

    @property
    def name(self) -> str:
        """memory-1.25, cores-2."""
        return f"cores-{self.cores:g}" if self.memory is None else f"memory-{self.memory:g}"


OversubscriptionLevel = Annotated[
    Annotated[Literal["none"], Tag("(word)")] | Annotated[OversubscriptionSpec, Tag("(ratio)")],
    Discriminator(lambda value: "(word)" if isinstance(value, str) else "(ratio)"),
]


class Oversubscribe(Factor[Oversubscription]):
    """What is promised of memory or cores, in times of what there is."""

    name = "oversubscribe"
    key = (
        tuple[OversubscriptionLevel, ...] | None,
        Field(
            None,
            min_length=1,
            description="Promises to compare, for example `[none, {memory: 1.25}, {memory: 1.5}]`. The "
            "report names the first one that breaks, and what broke.",
        ),
    )
    expected = BUSIER
    about = "unknown"

    def pairs(self, given: Any) -> Iterator[tuple[str, Oversubscription]]:
        for level in given:
            if isinstance(level, OversubscriptionSpec):
                yield level.name, Oversubscription(level.memory or 1.0, level.cores or 1.0)
            else:
                yield level, PLAIN

    def apply(self, variant: Variant, level: Oversubscription) -> Variant:
        return replace(variant, oversubscribed=level)

    def check(self, study: StudyOfFactors) -> None:
        """Something has the memory or cores that are exceeded, and something uses the excess."""
        for place, level in enumerate(study.factors.oversubscribe or ()):
            if isinstance(level, OversubscriptionSpec):
                key = "cores" if level.memory is None else "memory"
                if why := (_no_cores if level.memory is None else _no_memory)(study):
                    raise FaultyKeyError(why, *_KEY, place, key)


def _no_memory(study: StudyOfFactors) -> str:
    facts = provider_named(study.provider).isolation.facts
    if not (facts.own_address or facts.is_bare):
        return (
            f"workers of provider {study.provider} have no memory of their own, and would exceed that of "
            "this machine; use provider container"
        )
    if not any(case.workload == "testdfsio" for case in study.test_cases()):
        return "the excess is for YARN's containers, and no workload runs any; add testdfsio"
    return ""


def _no_cores(study: StudyOfFactors) -> str:
    containers = getattr(study, "containers", None)
    by_quota = provider_named(study.provider).isolation.facts.by_quota
    if not by_quota or (containers is not None and containers.cpus != "quota"):
        return "cores are promised by quotas; use provider container with containers.cpus: quota"
    if max(study.factors.vms_per_host) < 2:
        return "a single worker has all cores of its host; write vms_per_host: [2] or more"
    return ""


OVERSUBSCRIBE = Oversubscribe()
