"""Energy that packages of cores and their memory used, by the kernel's counters (RAPL).

Standard library only: it runs on hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from density_study.cluster.machine.describe import POWERCAP, energy_domains


class Energy:
    """Since the first reading. A counter is in microjoules, and begins again at its range, after an hour or
    less."""

    def __init__(self, root: Path = POWERCAP) -> None:
        self._root = root
        self._last_uj: dict[str, int] = {}
        self._used_uj: dict[str, int] = {}

    def read(self) -> Mapping[str, Mapping[str, float]]:
        """By domain. OSError if a counter cannot be read."""
        for name, folder in energy_domains(self._root):
            now_uj = int((folder / "energy_uj").read_text())
            before_uj = self._last_uj.get(name, now_uj)
            if now_uj < before_uj:
                before_uj -= int((folder / "max_energy_range_uj").read_text())
            self._used_uj[name] = self._used_uj.get(name, 0) + now_uj - before_uj
            self._last_uj[name] = now_uj
        return {name: {"energy_uj": float(used_uj)} for name, used_uj in self._used_uj.items()}
