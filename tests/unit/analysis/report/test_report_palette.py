"""Colours of the report: every variable defined for light and dark, and enough contrast in both."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from density_study.analysis.report.charts import palette

CSS = (Path(palette.__file__).parents[1] / "static" / "report.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", repetition))
    for repetition in re.findall(r":root \{(.*?)\}", CSS, re.S)
)
SCHEMES = pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_of_a_chart_is_defined_for_both_schemes() -> None:
    source = Path(palette.__file__).read_text(encoding="utf-8")
    used = set(re.findall(r"var\(--([\w-]+)", source))
    assert len(used) > 12
    assert used <= LIGHT.keys()
    assert set(LIGHT) == set(DARK)


@SCHEMES
def test_text_and_marks_contrast_with_the_background(scheme: dict[str, str]) -> None:
    paper = scheme["paper"]
    for name in ("ink", "muted", "link", "note", "bad"):
        assert contrast(scheme[name], paper) >= 4.5, name
    series = [name for name in scheme if name.startswith("series-")]
    assert len(series) == len(palette.SERIES)
    for name in series:
        assert contrast(scheme[name], paper) >= 3.0, name
    assert contrast(scheme["ink"], scheme["note-paper"]) >= 7.0


@SCHEMES
def test_two_series_differ_in_shape_and_stacked_neighbours_in_lightness(
    scheme: dict[str, str],
) -> None:
    assert len({style.shape for style in palette.SERIES}) == len(palette.SERIES)
    kinds = list(palette.CPU)
    for lower, upper in pairwise(kinds):
        assert contrast(scheme[f"cpu-{lower}"], scheme[f"cpu-{upper}"]) >= 1.25, (lower, upper)


def test_verdicts_differ_in_colour_and_shape() -> None:
    assert len(palette.VERDICT) == 4
    for first, second in combinations(palette.VERDICT.values(), 2):
        assert first.colour != second.colour
        assert first.shape != second.shape
