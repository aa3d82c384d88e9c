"""Labels of a run's settings, and the order in which they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from workloads.spec.settings import DfsioSetting, Setting, YcsbSetting
from workloads.testdfsio import setting as testdfsio
from workloads.ycsb import setting as ycsb


def labels(settings: Mapping[str, Setting]) -> dict[str, str]:
    """A label for each setting's id, in display order. Settings that differ only in size have the
    size in their label, so that all labels differ."""
    ordered = sorted(settings.items(), key=lambda item: _place(item[1]))
    plain = {name: setting.label for name, setting in ordered}
    shared = Counter(plain.values())
    return {
        name: f"{plain[name]}, {_size(setting)}" if shared[plain[name]] > 1 else plain[name]
        for name, setting in ordered
    }


def _place(setting: Setting) -> tuple[int, int, float, float, float]:
    if isinstance(setting, DfsioSetting):
        place = list(testdfsio.LABELS).index(setting.mode)
        return 0, place, setting.files, setting.file_size_mib, float(setting.readers or 0)
    share = setting.target_percent or 0.0
    target = share if setting.target_percent else 1000.0 * (setting.target_ops_s or 0.0)
    return 1, list(ycsb.LABELS).index(setting.mix), setting.records, setting.threads, target


def _size(setting: Setting) -> str:
    if isinstance(setting, DfsioSetting):
        return f"{setting.files} files of {setting.file_size_mib} MiB"
    return _ycsb_size(setting)


def _ycsb_size(setting: YcsbSetting) -> str:
    rows = f"{setting.records:,} records"
    if setting.variants is not None:
        rows = f"{setting.variants.samples:,} samples at {setting.variants.sites:,} sites"
    size = f"{rows}, {setting.threads} threads"
    if setting.clients > 1:
        size += f" in each of {setting.clients} clients"
    if setting.target_percent is not None:  # the rate differs between builds
        return f"{size}, at {setting.target_percent:g} % of saturation"
    target = setting.target_ops_s
    return size if target is None else f"{size}, target {target:g} ops/s"
