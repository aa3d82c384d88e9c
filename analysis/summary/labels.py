"""What people call the settings of a run, and the order they are shown in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from workloads.base.setting import Setting


def labels(settings: Mapping[str, Setting]) -> dict[str, str]:
    """A label for each setting's id, in the order settings are shown. Settings that differ only in
    size get it behind their label, so that no two labels are equal."""
    ordered = sorted(settings.items(), key=lambda item: (item[1].workload, item[1].sort_key))
    plain = {name: setting.label for name, setting in ordered}
    shared = Counter(plain.values())
    return {
        name: f"{plain[name]}, {setting.size_label}" if shared[plain[name]] > 1 else plain[name]
        for name, setting in ordered
    }
