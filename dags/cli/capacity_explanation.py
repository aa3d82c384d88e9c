"""Output of `study capacity explain`."""

from __future__ import annotations

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analysis.capacity.curves.explain import Explanation


def explanation_page(found: Explanation) -> RenderableType:
    """Measured levels, the laws and deviations with the largest weights, and the resulting interval."""
    laws = {row.law.name: row.law for row in found.shapes}
    notes = [f"{law.name}: {law.formula} ({law.source})" for law in laws.values()]
    return Group(
        _cells(found),
        _shapes(found),
        Text("\n".join([f"u = hosts / {found.middle:.4g}", *notes])),
        _deviations(found),
        Text("\n".join(_interval(found))),
    )


def _cells(found: Explanation) -> Table:
    table = _table("measured work time", "hosts", "repetitions", "level, s", "times, s")
    for cell, level in zip(found.curve.cells, found.curve.levels, strict=True):
        times = ", ".join(f"{one:.4g}" for one in cell.times)
        table.add_row(str(cell.x), str(len(cell.times)), f"{level:.5g}", times)
    return table


def _shapes(found: Explanation) -> Table:
    title = (
        f"laws with the largest weights; T at {found.hosts} hosts, through the mean of the levels"
    )
    table = _table(title, "law", "parameters", "weight", "T, s")
    for row in found.shapes:
        names = ", ".join(
            f"{name} = {value:g}"
            for name, value in zip(row.law.parameters, row.parameters, strict=True)
        )
        table.add_row(row.law.name, names, f"{row.weight:.4f}", f"{row.time_s:.5g}")
    return table


def _deviations(found: Explanation) -> Table:
    title = "deviations from a law with the largest weights (sd of log time)"
    table = _table(title, "sd", "reach, in log", "sd of a build", "cliff", "weight")
    hypotheses = found.hypotheses
    columns = (
        hypotheses.deviation,
        hypotheses.reach,
        hypotheses.cell_error,
        hypotheses.cliff,
        found.hypothesis_weights,
    )
    for sd, reach, build, cliff, weight in zip(*columns, strict=True):
        where = f"at {cliff:.0%} of the first gap" if cliff else ""
        table.add_row(f"{sd:g}", f"{reach:g}", f"{build:g}", where, f"{weight:.4f}")
    return table


def _interval(found: Explanation) -> list[str]:
    prediction = found.prediction
    centre, half = float(prediction.log_time[0]), prediction.half_width(0)
    stretch = float(prediction.stretch[0])
    total = sum(sd**2 for sd in found.sds.values()) ** 0.5
    low, middle, high = (float(np.exp(centre + sign * half)) for sign in (-1, 0, 1))
    lines = [f"sd of log time from {name}: {sd:.4f}" for name, sd in found.sds.items()]
    lines += [
        f"total sd {total:.4f}; deviations follow Student's t with {prediction.degrees:.3g} degrees of "
        "freedom",
        f"mean of log T over all laws and deviations: {centre:.5f}; T = {middle:.5g} s",
        f"half width of the 90 % interval in log: {half / stretch:.4f} x {stretch:.3f} (calibration)",
        f"90 % prediction interval: T exp(± half width) = {low:.5g} to {high:.5g} s",
    ]
    if found.unit != "s":
        lines.append(f"as a rate: {1 / middle:.5g} {found.unit}, {1 / high:.5g} to {1 / low:.5g}")
    return lines


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left", box=box.SIMPLE_HEAD)
