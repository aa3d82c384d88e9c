"""Labels of a run's settings, and the order in which they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from workloads.base.setting import Setting


def labels(settings: Mapping[str, Setting]) -> dict[str, str]:
    """A label for each setting's id, in display order. Settings that differ only in size have the
    size in their label, so that all labels differ."""
    ordered = sorted(settings.items(), key=lambda item: (item[1].workload, item[1].sort_key))
    plain = {name: setting.label for name, setting in ordered}
    shared = Counter(plain.values())
    return {
        name: f"{plain[name]}, {setting.size_label}" if shared[plain[name]] > 1 else plain[name]
        for name, setting in ordered
    }
