"""`SearchSpec`: the key `search` of `ycsb` and `genomics`."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.quantity import Seconds, milliseconds, percent, written_in
from density_study.workloads.base.search import LatencyLimit, Search
from density_study.workloads.base.values import Frozen
from density_study.workloads.ycsb.knobs import LatencyTarget, Target
from density_study.workloads.ycsb.mixes import Mix, OwnMix, facts_of, name_of

_LIMIT = re.compile(r"(read|update|insert|scan)_p(50|90|95|99|99\.9)")
_LIMITS = "read_p99, or update, insert or scan, and p50, p90, p95, p99 or p99.9"


def _limit(name: str) -> str:
    if not _LIMIT.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a percentile of an operation; write, for example, {_LIMITS}"
        )
    return name


Share = Annotated[
    float, BeforeValidator(lambda value: percent(value, "70%") / 100), written_in("%")
]
"""A share written as `70%`, kept as 0.7."""
Milliseconds = Annotated[float, BeforeValidator(milliseconds), written_in("ms")]
LimitName = Annotated[str, AfterValidator(_limit)]


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 6)


class SearchSpec(Frozen):
    """A search on each build, for the highest rate that keeps limits of latency, of CPU, or of both; or for
    the number of threads beyond which more gain little. Each probe is a trial."""

    max_rate: dict[LimitName, Milliseconds] = Field(
        default={},
        description="limits of intended latency that the rate keeps: read_p99: 20 ms. Operations: read, "
        "update, insert, scan; percentiles: p50, p90, p95, p99, p99.9",
    )
    until_cpu: Share | None = Field(
        None, description="most CPU used on the cluster's hosts on average: 70%"
    )
    max_threads_gain: Share | None = Field(
        None, description="instead of a rate: double the threads until they gain less than this: 5%"
    )
    start: LatencyTarget = Field(
        Target(percent=25.0), description="first rate: 25% of the measured saturation, or 500/s"
    )
    step: Share = Field(
        0.03, description="distance of the answer to the next rate that is rejected: 3%"
    )
    probes: Annotated[int, Field(strict=True, ge=3, le=50)] = Field(
        12, description="most probes on each build"
    )
    duration: Seconds | None = Field(
        None,
        description="length of the first probes, ramp-up included; after rejections up to twice as long. "
        "Default: the workload's `duration`",
    )

    @model_validator(mode="after")
    def _has_one_goal(self) -> Self:
        of_rates = bool(self.max_rate) or self.until_cpu is not None
        if of_rates == (self.max_threads_gain is not None):
            raise FaultyKeyError(
                "a search has either limits (max_rate, until_cpu, or both) or max_threads_gain",
                "max_threads_gain" if of_rates else "max_rate",
            )
        return self

    def search(self, mix: Mix | OwnMix, threads: int, duration_s: float) -> Search:
        """FaultyKeyError if the mix has none of the operations that are limited."""
        shares = facts_of(mix).shares
        # a read-modify-write is also logged as its read and its update
        again = shares["readmodifywrite"]
        done = {**shares, "read": shares["read"] + again, "update": shares["update"] + again}
        limits = tuple(
            LatencyLimit(operation=match[1].upper(), percentile=float(match[2]), ms=ms)
            for name, ms in self.max_rate.items()
            if (match := _LIMIT.fullmatch(name)) and done[match[1]] > 0
        )
        if self.max_rate and not limits:
            raise FaultyKeyError(
                f"the mix {name_of(mix)} has none of the operations in max_rate: "
                f"{', '.join(self.max_rate)}",
                "search",
                "max_rate",
            )
        of_threads: dict[str, Any] = {
            "gain_percent": _percent(self.max_threads_gain),
            "start_threads": threads,
        }
        of_rates: dict[str, Any] = {
            "limits": limits,
            "cpu_percent": _percent(self.until_cpu),
            "start_percent": self.start.percent,
            "start_ops_s": self.start.ops_s,
        }
        return Search(
            **(of_threads if self.max_threads_gain is not None else of_rates),
            step_percent=100 * self.step,
            probes=self.probes,
            duration_s=self.duration or duration_s,
        )
