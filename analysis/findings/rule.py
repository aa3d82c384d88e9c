"""`Rule`: the range in which a ratio must lie for a statement to hold, fixed before the data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """The ratio lies above `low` and below `high`; one may be None. With both, it is an equivalence."""

    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ValueError("a rule needs a bound")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"no ratio lies above {self.low:g} and below {self.high:g}")

    def holds(self, ratio: float) -> bool:
        """Whether `ratio` lies inside."""
        above = self.low is None or ratio > self.low
        return above and (self.high is None or ratio < self.high)

    def nearest(self, ratio: float) -> float:
        """The bound to test `ratio` against: for a ratio outside the range, the one it exceeds."""
        if self.low is None or (self.high is not None and ratio >= self.high):
            assert self.high is not None
            return self.high
        return self.low

    @property
    def words(self) -> str:
        """'above 1.5', 'below 0.9', '0.8 to 1.25'."""
        if self.low is None:
            return f"below {self.high:g}"
        return f"above {self.low:g}" if self.high is None else f"{self.low:g} to {self.high:g}"


RISES = Rule(low=1.0)
FALLS = Rule(high=1.0)
SIMILAR = Rule(0.8, 1.25)
"""Method 2's margins of equivalence."""
LITTLE_GAIN = Rule(high=1.25)
GAIN = Rule(low=1.25)
