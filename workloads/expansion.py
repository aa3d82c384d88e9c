"""From a study's workloads to settings, and a random order of them that still makes sense. Pure."""

from __future__ import annotations

from random import Random

from workloads.settings import DfsioSetting, Setting, YcsbSetting
from workloads.study import DfsioSpec, Study, YcsbSpec


def settings_of(study: Study) -> tuple[Setting, ...]:
    """Every setting of the study, in the order written."""
    settings: list[Setting] = []
    for entry in study.workloads:
        if entry.testdfsio is not None:
            settings += _dfsio(entry.testdfsio)
        if entry.ycsb is not None:
            settings += _ycsb(entry.ycsb)
    return tuple(settings)


def _dfsio(spec: DfsioSpec) -> list[DfsioSetting]:
    return [
        DfsioSetting(
            mode=mode,
            files=spec.files,
            file_size_mib=spec.file_size,
            read_size_bytes=spec.read_size,
        )
        for mode in dict.fromkeys(spec.modes)
    ]


def _ycsb(spec: YcsbSpec) -> list[YcsbSetting]:
    return [
        YcsbSetting(
            mix=mix,
            records=records,
            threads=threads,
            duration_s=None if mix == "load" else spec.duration,
            warm_up_s=0.0 if mix == "load" else spec.warm_up,
            request_distribution=spec.request_distribution,
            max_scan_length=spec.max_scan_length,
            regions_per_server=spec.regions_per_server,
        )
        for records in dict.fromkeys(spec.records)
        for threads in dict.fromkeys(spec.threads)
        for mix in dict.fromkeys(spec.mixes)
    ]


def random_order(settings: tuple[Setting, ...], rng: Random) -> tuple[Setting, ...]:
    """A random order in which what writes data comes before what reads it.

    At each place one of the settings whose data would exist is drawn. Reads whose data no setting
    writes are free: their trial prepares the data unmeasured.
    """
    left, ordered = list(settings), []
    while left:
        ready = [setting for setting in left if not _waits_for(setting, left)]
        chosen = rng.choice(ready)
        left.remove(chosen)
        ordered.append(chosen)
    return tuple(ordered)


def _waits_for(setting: Setting, left: list[Setting]) -> bool:
    if isinstance(setting, DfsioSetting):
        return setting.mode != "write" and any(
            isinstance(other, DfsioSetting) and other.mode == "write" for other in left
        )
    return setting.mix != "load" and any(
        isinstance(other, YcsbSetting) and other.mix == "load" and other.records == setting.records
        for other in left
    )
