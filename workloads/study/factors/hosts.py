"""`factors.hosts`: how many of the worker hosts are used, for a curve over hosts in one study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from density_study.cluster.model.variant import HOSTS_LEVEL, Variant
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.factors.factor import BUSIER, Factor, Level, StudyOfFactors

_KEY = ("factors", "hosts")


class Hosts(Factor[int]):
    """Worker hosts, the first of the study. The others stand idle."""

    name = "hosts"
    key = (
        tuple[Annotated[int, Field(strict=True, ge=1, le=256)], ...] | None,
        Field(
            None,
            min_length=1,
            description="Counts of worker hosts: the first ones of `hosts`. For curves that "
            "`study capacity fit` reads. Default: all. With `physical`, `libvirt` and `container`.",
        ),
    )
    effect = "scaling"
    expected = BUSIER
    about = "unknown"

    def pairs(self, given: Any) -> Iterator[tuple[str, int]]:
        for count in sorted(given):
            yield f"{count}{HOSTS_LEVEL}", count

    def apply(self, variant: Variant, level: int) -> Variant:
        return replace(variant, worker_hosts=level)

    def words(self, level: Level, noun: str) -> str:
        """'2 hosts'."""
        count = str(level).removesuffix(HOSTS_LEVEL)
        return f"{count} host{'s' * (count != '1')}"

    def check(self, study: StudyOfFactors) -> None:
        """There are as many hosts with the role worker."""
        most = max(study.factors.hosts or (0,))
        workers = sum("worker" in host.roles for host in study.hosts)
        if most and study.existing is not None:
            raise FaultyKeyError("an existing cluster is measured with all of its hosts", *_KEY)
        if most > workers:
            raise FaultyKeyError(
                f"{most} worker hosts are requested; {workers} have the role worker", *_KEY
            )


HOSTS = Hosts()
