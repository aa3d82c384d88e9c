"""What a YCSB setting is called: its id, its words in reports, and the knobs that these do not tell. Pure."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from density_study.workloads.ycsb.mixes import MIXES
from density_study.workloads.ycsb.noisy_neighbour.neighbour import NOBODY

if TYPE_CHECKING:
    from density_study.workloads.ycsb.setting import YcsbSetting


def setting_id(setting: YcsbSetting) -> str:
    """'ycsb-c-r1000-t8-at80pct': equal before and after a rate or a probe is known."""
    threads = setting.own_threads
    parts = [f"ycsb-{setting.mix}-r{setting.records}-t{threads}"]
    if setting.variants is not None:
        parts = [f"genomics-{setting.mix}-{setting.variants.name}-t{threads}"]
    if setting.row.name:
        parts.append(setting.row.name)
    if setting.insert_order != "hashed":
        parts.append(setting.insert_order)
    if setting.clients > 1:
        parts.append(f"c{setting.clients}")
    if setting.search is not None:  # keeps its name whatever its probe
        parts.append(setting.search.id)
    elif setting.phase is not None:  # keeps its name once its rates are known
        parts.append(setting.phase.name)
    elif setting.target_percent is not None:  # keeps its name once its rate is known
        parts.append(f"at{setting.target_percent:g}pct")
    elif setting.target_ops_s is not None:
        parts.append(f"at{setting.target_ops_s:g}ps")
    if setting.fault is not None:
        parts.append(setting.fault.id)
    if setting.is_isolation:
        parts.append(f"beside{setting.neighbour_threads or '-nobody'}")
    return "-".join(parts)


def label(setting: YcsbSetting) -> str:
    """'YCSB 95/5 short scan'."""
    mix = f"YCSB {setting.mix_facts.label}"
    if setting.neighbour is None:
        return mix
    return (
        f"{mix}, {'victim alone' if setting.neighbour == NOBODY else f'beside {setting.neighbour}'}"
    )


def size_label(setting: YcsbSetting) -> str:
    """'1,000 records, 8 threads in 2 clients, at 80 % of saturation'."""
    rows = f"{setting.records:,} records"
    if setting.row.name:
        rows += f" of {setting.row.fields} x {setting.row.field_length} B"
    if setting.insert_order != "hashed":
        rows += f" in {setting.insert_order} keys"
    if setting.variants is not None:
        rows = f"{setting.variants.samples:,} samples at {setting.variants.sites:,} sites"
    size = f"{rows}, {setting.own_threads} threads"
    if setting.clients > 1:
        size += f" in {setting.clients} clients"
    if setting.search is not None:
        return f"{size}, {setting.search.goal}"
    if setting.phase is not None:
        return f"{size}, {setting.phase.words}"
    if setting.target_percent is not None:  # its rate differs from build to build
        size += f", at {setting.target_percent:g} % of saturation"
    elif setting.target_ops_s is not None:
        size += f", {setting.target_ops_s:g} ops/s requested"
    return size if setting.fault is None else f"{size}, {setting.fault.words}"


def sort_key(setting: YcsbSetting) -> tuple[float, ...]:
    """By mix, rows, threads and rate; searches, faults and phases last."""
    percent = setting.target_percent or 0.0
    target = percent if setting.target_percent else 1000.0 * (setting.target_ops_s or 0.0)
    names = [str(name) for name in MIXES]
    place = names.index(setting.mix) if setting.mix in names else len(names)
    if setting.search or setting.fault or setting.phase:  # after the targets
        return place, setting.records, setting.own_threads, inf
    return place, setting.records, setting.threads, target


def unnamed_knobs(setting: YcsbSetting) -> dict[str, str | float]:
    """Knobs that influence the results but are not part of the id, by their key in a study. Only knobs
    that affect the mix: a load draws no keys, and only scans have a length."""
    knobs: dict[str, str | float | None] = {
        "duration": setting.search.duration_s if setting.search else setting.duration_s,
        "warm_up": None if setting.is_load else setting.warm_up_s,
        "warm_up_client": setting.warm_up_client_s,
        "warm_up_daemons": "steady" if setting.until_steady else setting.warm_up_daemons_s,
        "regions_per_server": setting.regions_per_server,
        "seed": None if setting.variants is None else setting.variants.seed,
        **setting.client.knobs,
    }
    if setting.own_mix is not None:
        shares = setting.mix_facts.shares.items()
        knobs["shares"] = ", ".join(f"{name} {share:g}" for name, share in shares if share)
    if not setting.is_load:
        knobs["request_distribution"] = str(setting.distribution)
        if setting.variants is not None:
            knobs |= setting.variants.model_dump(include={"regions", "region_sites"})
        elif setting.mix_facts.shares["scan"] > 0:
            knobs["max_scan_length"] = setting.max_scan_length
            if setting.min_scan_length != 1:
                knobs["min_scan_length"] = setting.min_scan_length
            if setting.scan_length_distribution != "uniform":
                knobs["scan_length_distribution"] = setting.scan_length_distribution
    return {name: value for name, value in knobs.items() if value is not None}
