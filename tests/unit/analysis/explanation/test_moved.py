"""Slow seconds that no rule explains: what moved is told, whatever it was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from density_study.analysis.explanation.causes import causes
from density_study.analysis.explanation.course import Course, Happening
from density_study.analysis.explanation.explain import of_devices, of_disks, sentence
from density_study.analysis.explanation.slow import slow_spells
from density_study.workloads.monitors.devices import devices

SECONDS = 60
SPELL = slice(30, 33)
NAMES = sorted({metric.name for device in devices().values() for metric in device.metrics})


def _told(series: dict[str, dict[str, object]], events: tuple[Happening, ...] = ()) -> str:
    rng = np.random.default_rng(7)
    rate = 3000 * rng.lognormal(0, 0.02, SECONDS)
    rate[SPELL] = 300
    course = Course(0, rate, np.full(SECONDS, 20.0), events, series)  # type: ignore[arg-type]
    spells = slow_spells(course)
    return sentence(course, spells[0], spells, causes(course, spells[0], spells))


def _jumps(usual: float, then: float) -> object:
    values = np.full(SECONDS, usual)
    values[SPELL] = then
    return values


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_sampled_and_moves_is_told(name: str) -> None:
    text = _told({name: {"w1": _jumps(2.0, 900.0)}, "iowait": {"w1": _jumps(1.0, 1.0)}})
    assert "900" in text
    assert "Nothing measured" not in text and "usual range" not in text


def test_a_quantity_that_falls_has_moved() -> None:
    text = _told({"cache_hits": {"rs-1 on w1": _jumps(99.0, 40.0)}})
    assert text.endswith(
        "No rule held. Moved most: lookups answered by the block cache of rs-1 on w1 40.0 %, 99.0 % "
        "in the median second."
    )


def test_what_moved_most_comes_first() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(50.0, 10.0, SECONDS)
    noise[SPELL] = 95.0
    text = _told({"cpu_stall": {"w1": noise}, "memory_stall": {"w1": _jumps(0.0, 60.0)}})
    assert text.index("waited for memory") < text.index("waited for a core")


def test_a_pause_too_short_for_its_rule_is_told() -> None:
    pause = Happening("gc pause", "w1/regionserver-1", 30.1, 30.4, "Pause Full")
    assert "time in a gc pause of w1/regionserver-1 10.0 %" in _told({}, (pause,))


def test_where_all_is_as_usual_the_sentence_says_over_how_much() -> None:
    steady = {"iowait": {f"w{n}": _jumps(1.0, 1.0) for n in range(3)}}
    assert _told(steady).endswith(
        "No rule held; all of 3 sampled series stayed in their usual range."
    )


def test_every_sampled_series_is_read_from_the_tables() -> None:
    disks = pd.DataFrame(
        {
            "host": "w1",
            "second": [0, 1],
            "disk_read_bytes_s": 2.0**20,
            "disk_write_bytes_s": 2.0**21,
        }
    )
    found = of_disks(disks)
    assert {name: list(by["w1"]) for name, by in found.items()} == {
        "disk_read": [1.0, 1.0],
        "disk_write": [2.0, 2.0],
    }
    rows = [
        {"name": name, "host": "w1", "source": source, "second": 0, "value": 1.0}
        for name in NAMES
        for source in ("host", "rs-1")
    ]
    series = of_devices(pd.DataFrame(rows))
    assert sorted(series) == NAMES
    assert all(set(by_place) == {"w1", "rs-1 on w1"} for by_place in series.values())
