"""Numbers for people: at least three significant digits, never an exponent."""

from __future__ import annotations

import math


def digits(value: float, significant: int = 3) -> str:
    """Whole numbers from 100 on, because 12,300 reads better than 1.23e+04."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = float(f"{value:.{significant - 1}e}")  # 9.999 has two digits before the point
    places = max(0, significant - 1 - math.floor(math.log10(abs(rounded))))
    return f"{value:,.{places}f}"


def ratio(value: float) -> str:
    """A ratio has no unit and is marked by a multiplication sign: ×1.21, ×12.4, ×0.0310, ×31,000,000."""
    if 0.1 <= abs(value) < 10:
        return f"×{value:.2f}"
    return f"×{digits(float(f'{value:.3g}') if abs(value) >= 1000 else value)}"


def against(first: float, later: float, effect: float) -> str | None:
    """'1,092 against 3,399': both variants, with as many digits as their ratio needs to read like `effect`.
    None if it never does: the effect is not the ratio of these numbers."""
    for significant in range(3, 8):
        shown = [digits(value, significant) for value in (later, first)]
        a, b = (float(text.replace(",", "")) for text in shown)
        if b and ratio(a / b) == ratio(effect):
            return " against ".join(shown)
    return None


def probability(p: float) -> str:
    """Two significant digits; below 0.001 only that bound."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
