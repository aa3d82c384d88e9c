"""Energy that packages of cores and their memory used, and the power of the whole machine.

Standard library only: it runs on hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from density_study.cluster.machine.energy import (
    HWMON,
    POWERCAP,
    count,
    counters_fault,
    energy_domains,
    meter_fault,
    meter_w,
)

METER = "meter"
"""The source of what a machine's power meter shows."""


class Energy:
    """Counters, since the first reading: one is in microjoules, and begins again at its range, after an hour
    or less. And the meter. Each if this user can read it at first."""

    def __init__(self, powercap: Path = POWERCAP, hwmon: Path = HWMON) -> None:
        self._powercap, self._hwmon = powercap, hwmon
        self._counted = not counters_fault(powercap)
        self._metered = not meter_fault(hwmon)
        self._last_uj: dict[str, int] = {}
        self._used_uj: dict[str, int] = {}

    def read(self) -> Mapping[str, Mapping[str, float]]:
        """Energy by domain, and power of `METER` while it shows a value. OSError if a counter cannot be
        read."""
        if self._counted:
            self._count()
        found = {name: {"energy_uj": float(used_uj)} for name, used_uj in self._used_uj.items()}
        if self._metered:
            with suppress(OSError, ValueError):
                if watts := meter_w(self._hwmon):
                    found[METER] = {"power_uw": 1e6 * watts}
        return found

    def _count(self) -> None:
        for name, folder in energy_domains(self._powercap):
            now_uj = count(folder)
            before_uj = self._last_uj.get(name, now_uj)
            if now_uj < before_uj:
                before_uj -= int((folder / "max_energy_range_uj").read_text())
            self._used_uj[name] = self._used_uj.get(name, 0) + now_uj - before_uj
            self._last_uj[name] = now_uj
