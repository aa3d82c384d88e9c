"""`Phase`: a load whose rate changes with time, as pieces that follow each other. Pure.

Rates are shares of the phase's highest rate, which the test case has as its target: a percentage of the
build's saturation becomes a rate when the trial starts, and the shape does not change.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Literal

from pydantic import Field

from density_study.workloads.base.values import Frozen

PhaseKind = Literal["ramp", "burst", "staircase", "soak"]


class Piece(Frozen):
    """A part of a phase; results are reported by part. The rate changes linearly from `begin` to `end`."""

    name: str
    seconds: int
    begin: float = Field(description="share of the phase's highest rate at its start")
    end: float

    @property
    def operations_share(self) -> float:
        """Requested operations, in seconds at the highest rate."""
        return self.seconds * (self.begin + self.end) / 2


class Phase(Frozen):
    """`name` is part of the test case's id: `ramp-10pct-to-90pct-300s`. `words`: for people."""

    kind: PhaseKind
    name: str
    words: str
    pieces: tuple[Piece, ...]

    @property
    def seconds(self) -> int:
        return sum(piece.seconds for piece in self.pieces)

    def parts(self) -> list[dict[str, str | int]]:
        """name, begin_s and end_s of each piece."""
        ends = list(accumulate(piece.seconds for piece in self.pieces))
        return [
            {"name": piece.name, "begin_s": end - piece.seconds, "end_s": end}
            for piece, end in zip(self.pieces, ends, strict=True)
        ]

    def schedule(self, highest_ops_s: float, ramp_up_s: float) -> str:
        """The schedule of one client in the form of our Java client: SECONDS:FROM:TO, first the ramp-up at
        the phase's first rate."""
        first = self.pieces[0].begin
        rates = [(ramp_up_s, first, first), *((p.seconds, p.begin, p.end) for p in self.pieces)]
        return ";".join(
            f"{seconds:g}:{begin * highest_ops_s:.6g}:{end * highest_ops_s:.6g}"
            for seconds, begin, end in rates
        )

    def operations(self, highest_ops_s: float, ramp_up_s: float) -> float:
        """Operations of the whole trial at this highest rate."""
        measured = sum(piece.operations_share for piece in self.pieces)
        return highest_ops_s * (ramp_up_s * self.pieces[0].begin + measured)
