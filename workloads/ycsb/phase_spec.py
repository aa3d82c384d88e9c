"""`PhaseSpec`: an element of the key `phases` of `ycsb`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.quantity import Seconds
from density_study.workloads.base.values import Frozen
from density_study.workloads.ycsb.knobs import LatencyTarget, Target
from density_study.workloads.ycsb.mixes import CoreMix
from density_study.workloads.ycsb.phase import Phase, PhaseKind, Piece

PART_S = 5
"""Shortest part: a few whole intervals of the client's log."""
PARTS = 10
"""Parts of a ramp, and of a soak shorter than two hours."""
MAX_PARTS = 1000
HOUR_S = 3600
OVER = 0.1
"""Rate between bursts, as a share of a burst's."""


class _Shape(Frozen):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Ramp(_Shape):
    """The rate changes evenly from one to another."""

    from_: LatencyTarget = Field(alias="from", description="first rate: 10%, or 200/s")
    to: LatencyTarget = Field(description="last rate: 90%, or 2000/s")
    over: Seconds = Field(description="time it takes: 5 min")

    @property
    def rates(self) -> tuple[Target, ...]:
        return self.from_, self.to

    @property
    def name(self) -> str:
        return f"ramp-{_short(self.from_)}-to-{_short(self.to)}-{self.over:g}s"

    @property
    def words(self) -> str:
        return f"ramp from {_words(self.from_)} to {_words(self.to)} over {self.over:g} s"

    def pieces(self) -> Iterator[Piece]:
        first, last = _shares(self.from_, self.to)
        edges = [round(self.over * part / PARTS) for part in range(PARTS + 1)]
        for begin, end in pairwise(edges):
            yield Piece(
                name=f"{begin} to {end} s",
                seconds=end - begin,
                begin=first + (last - first) * begin / self.over,
                end=first + (last - first) * end / self.over,
            )


class Burst(_Shape):
    """Bursts at one rate, and a lower rate between them."""

    rate: LatencyTarget = Field(description="rate of a burst: 90%, or 2000/s")
    for_: Seconds = Field(alias="for", description="length of a burst: 10 s")
    every: Seconds = Field(description="from one burst to the next: 60 s")
    between: LatencyTarget | None = Field(
        None, description="rate between bursts. Default: a tenth of `rate`"
    )
    times: Annotated[int, Field(strict=True, ge=1, le=MAX_PARTS // 2)] = Field(
        5, description="number of bursts"
    )

    @property
    def _between(self) -> Target:
        if self.between is not None:
            return self.between
        percent, ops_s = self.rate.percent, self.rate.ops_s
        return Target(percent and OVER * percent, ops_s and max(1.0, OVER * ops_s))

    @property
    def rates(self) -> tuple[Target, ...]:
        return self.rate, self._between

    @property
    def name(self) -> str:
        return (
            f"burst-{_short(self.rate)}-over-{_short(self._between)}-"
            f"{self.times}x{self.for_:g}s-every-{self.every:g}s"
        )

    @property
    def words(self) -> str:
        bursts = "1 burst" if self.times == 1 else f"{self.times} bursts"
        return (
            f"{bursts} of {self.for_:g} s at {_words(self.rate)}, every {self.every:g} s, "
            f"over {_words(self._between)}"
        )

    def pieces(self) -> Iterator[Piece]:
        high, low = _shares(self.rate, self._between)
        rest = round(self.every) - round(self.for_)
        for number in range(1, self.times + 1):
            yield Piece(name=f"before burst {number}", seconds=rest, begin=low, end=low)
            yield Piece(name=f"burst {number}", seconds=round(self.for_), begin=high, end=high)
        yield Piece(name=f"after burst {self.times}", seconds=rest, begin=low, end=low)


class Staircase(_Shape):
    """The rate rises, or falls, in steps of equal height and length."""

    from_: LatencyTarget = Field(alias="from", description="rate of the first step: 20%, or 200/s")
    to: LatencyTarget = Field(description="rate of the last step: 100%, or 1000/s")
    steps: Annotated[int, Field(strict=True, ge=2, le=100)] = Field(description="number of steps")
    each: Seconds = Field(description="length of a step: 60 s")

    @property
    def rates(self) -> tuple[Target, ...]:
        return self.from_, self.to

    @property
    def name(self) -> str:
        return f"staircase-{_short(self.from_)}-to-{_short(self.to)}-{self.steps}x{self.each:g}s"

    @property
    def words(self) -> str:
        ends = f"{_words(self.from_)} to {_words(self.to)}"
        return f"staircase from {ends} in {self.steps} steps of {self.each:g} s"

    def pieces(self) -> Iterator[Piece]:
        first, last = _shares(self.from_, self.to)
        for step in range(self.steps):
            share = first + (last - first) * step / (self.steps - 1)
            yield Piece(name=f"step {step + 1}", seconds=round(self.each), begin=share, end=share)


class Soak(_Shape):
    """One rate for a long time; results are by the hour."""

    rate: LatencyTarget = Field(description="the rate: 50%, or 500/s")
    duration: Seconds = Field(description="length, without the ramp-up: 4 h")

    @property
    def rates(self) -> tuple[Target, ...]:
        return (self.rate,)

    @property
    def name(self) -> str:
        return f"soak-{_short(self.rate)}-{self.duration:g}s"

    @property
    def words(self) -> str:
        hours = self.duration / HOUR_S
        length = f"{hours:g} h" if hours >= 2 else f"{self.duration:g} s"
        return f"soak at {_words(self.rate)} for {length}"

    def pieces(self) -> Iterator[Piece]:
        if self.duration >= 2 * HOUR_S:
            edges = [*range(0, round(self.duration), HOUR_S), round(self.duration)]
        else:
            edges = [round(self.duration * part / PARTS) for part in range(PARTS + 1)]
        named = "hour" if self.duration >= 2 * HOUR_S else "part"
        for number, (begin, end) in enumerate(pairwise(edges), start=1):
            yield Piece(name=f"{named} {number}", seconds=end - begin, begin=1.0, end=1.0)


class PhaseSpec(Frozen):
    """A trial on each build at a rate that changes with time, in an open loop. It has one of the four shapes.
    Rates are shares of the measured saturation (90%), or operations per second (900/s)."""

    ramp: Ramp | None = Field(None, description="the rate changes evenly")
    burst: Burst | None = Field(None, description="short bursts")
    staircase: Staircase | None = Field(None, description="the rate changes in steps")
    soak: Soak | None = Field(None, description="one rate for hours")
    mix: CoreMix | None = Field(
        None, description="mix to run; default: the first of `mixes` besides the load"
    )

    @property
    def _shapes(self) -> dict[PhaseKind, Ramp | Burst | Staircase | Soak]:
        shapes: dict[PhaseKind, Ramp | Burst | Staircase | Soak | None] = {
            "ramp": self.ramp,
            "burst": self.burst,
            "staircase": self.staircase,
            "soak": self.soak,
        }
        return {kind: shape for kind, shape in shapes.items() if shape is not None}

    @model_validator(mode="after")
    def _is_one_shape(self) -> Self:
        if len(self._shapes) != 1:
            raise FaultyKeyError("a phase is one of ramp, burst, staircase and soak", "ramp")
        ((kind, shape),) = self._shapes.items()
        rates = shape.rates
        if len({rate.percent is None for rate in rates}) > 1:
            raise FaultyKeyError(
                "its rates are all percentages, or all operations per second", kind
            )
        if rates[0] in rates[1:]:
            raise FaultyKeyError("its two rates are equal; write a soak", kind)
        pieces = list(shape.pieces())
        if min(piece.seconds for piece in pieces) < PART_S:
            raise FaultyKeyError(
                f"a part lasts {min(piece.seconds for piece in pieces)} s; {PART_S} s are the minimum "
                "(a ramp, and a soak shorter than two hours, has ten parts)",
                kind,
            )
        if len(pieces) > MAX_PARTS:
            raise FaultyKeyError(f"it has more than {MAX_PARTS} parts", kind)
        return self

    @property
    def phase(self) -> Phase:
        ((kind, shape),) = self._shapes.items()
        return Phase(kind=kind, name=shape.name, words=shape.words, pieces=tuple(shape.pieces()))

    @property
    def highest(self) -> Target:
        (shape,) = self._shapes.values()
        return max(shape.rates, key=_size)


def _size(rate: Target) -> float:
    return rate.percent or rate.ops_s or 0.0


def _shares(*rates: Target) -> tuple[float, ...]:
    highest = max(map(_size, rates))
    return tuple(_size(rate) / highest for rate in rates)


def _short(rate: Target) -> str:
    return f"{rate.ops_s:g}ps" if rate.percent is None else f"{rate.percent:g}pct"


def _words(rate: Target) -> str:
    return f"{rate.ops_s:g} ops/s" if rate.percent is None else f"{rate.percent:g} %"
