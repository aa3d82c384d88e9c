"""A machine's counters of energy and its power meter, as the kernel shows them, in folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

RANGE_UJ = 262_143_328_850
"""Of a real package."""


def domain(
    powercap: Path, folder: str, name: str, energy_uj: int, range_uj: int = RANGE_UJ
) -> Path:
    """A folder below /sys/class/powercap."""
    made = powercap / folder
    made.mkdir(parents=True, exist_ok=True)
    files = {"name": name, "energy_uj": energy_uj, "max_energy_range_uj": range_uj}
    for file, value in files.items():
        _show(made / file, value)
    return made


def _show(file: Path, value: object) -> None:
    """A reader never sees half of it."""
    new = file.with_name(f".{file.name}")
    new.write_text(f"{value}\n")
    new.replace(file)


def meter(hwmon: Path, watts: float, interval_ms: int = 1000, number: int = 0) -> Path:
    """A folder below /sys/class/hwmon, beside one of another sensor."""
    for folder, name in ((f"hwmon{number}", "power_meter"), ("hwmon9", "coretemp")):
        made = hwmon / folder
        made.mkdir(parents=True, exist_ok=True)
        files = {"name": name, "power1_average": round(watts * 1e6)}
        for file, value in {**files, "power1_average_interval": interval_ms}.items():
            _show(made / file, value)
    return hwmon / f"hwmon{number}"


@dataclass(frozen=True)
class Counting:
    """Counters at given energies. joules: by the folder of a domain, its name and its energy since the start,
    by seconds."""

    powercap: Path
    joules: Mapping[str, tuple[str, Callable[[float], float]]]
    range_uj: int = RANGE_UJ
    at_first_uj: int = 0

    def at(self, seconds: float) -> None:
        """Let the counters show this time."""
        for folder, (name, joules) in self.joules.items():
            counted = self.at_first_uj + round(1e6 * joules(seconds))
            domain(self.powercap, folder, name, counted % (self.range_uj + 1), self.range_uj)
