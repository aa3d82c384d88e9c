"""A device's samples, and what its aggregates make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from density_study.workloads import tables
from density_study.workloads.rows.monitors.device_aggregates import device_tables
from density_study.workloads.rows.raw.trial_context import Subject, TrialFacts
from density_study.workloads.tables.arrow import arrow_table

START_S, OFFSET_S = 1.5e9, 0.25
FACTS = TrialFacts((START_S, START_S + 10), OFFSET_S, 1.0)
Samples = Sequence[tuple[float, str, Mapping[str, float]]]


def aggregated(
    device: str, samples: Samples, facts: TrialFacts = FACTS
) -> dict[str, list[dict[str, object]]]:
    rows = [
        {"trial": "t", "host": "h", "device": device, "line": line, "source": source,
         "epoch_s": START_S + OFFSET_S + at_s, "names": list(cells), "values": list(cells.values())}
        for line, (at_s, source, cells) in enumerate(samples, start=3)
    ]  # fmt: skip
    table = arrow_table(tables.DEVICE_SAMPLES, rows)
    found: dict[str, list[dict[str, object]]] = {}
    for made, part in device_tables(table, [Subject("t", device, "h", len(rows), facts)]):
        found.setdefault(made.name, []).extend(part.to_pylist())
    return found


def series(device: str, samples: Samples, name: str, source: str) -> dict[int, float]:
    rows = aggregated(device, samples).get("device_series", [])
    assert {(row["trial"], row["host"], row["device"]) for row in rows} <= {("t", "h", device)}
    chosen = [row for row in rows if (row["name"], row["source"]) == (name, source)]
    assert len({row["second"] for row in chosen}) == len(chosen)
    return {int(str(row["second"])): float(str(row["value"])) for row in chosen}
