"""`trial_facts`: what the tables of one trial tell, whatever its workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from density_study.analysis.validity.rules import GC_BEARABLE
from density_study.cluster.model.host import MIB
from density_study.workloads.base.rows import (
    PERCENT,
    Facts,
    Row,
    Rows,
    exact_sum,
    if_all,
    metric,
    over,
    window_s,
)
from density_study.workloads.monitors.facts import monitor_checks, utilization_metrics
from density_study.workloads.monitors.facts.canary import OF_OTHER_TRIALS, canary_metrics
from density_study.workloads.monitors.facts.energy import energy_facts
from density_study.workloads.rows.facts import computed_metrics, facts_of, own_rate
from density_study.workloads.rows.raw.file_kinds import SAMPLES, is_result
from density_study.workloads.tables import CHECKS
from density_study.workloads.ycsb.warming.warmth import WARMTH

SHARE_TOLERANCE = 1.0  # points
HDFS_PMEM, HEAP = "hdfs_pmem", "heap"
_OF_TRIAL = ("workload", "imported", "accepted", "existing", "others_requests_s", "others_vcores",
             "regionservers_gone", "monitored", "tier", "tiers_in_use", "foreign_tiers", "reads_tier",
             "network", "network_broken", "network_seen", "state", *WARMTH, "busiest_server")  # fmt: skip
_UNKNOWN: Row = {
    **{
        name: None
        for name in CHECKS.column_names
        if name not in ("trial", "access_spread", *OF_OTHER_TRIALS)
    },
    **dict.fromkeys(
        ("must_be_cold", "closed_loop", "started_together", "faulted", "has_target"), False
    ),
}


def trial_facts(rows: Rows) -> Facts:
    """All metrics of the trial, and its row of `checks` without `access_spread` and OF_OTHER_TRIALS, which
    need other trials.

    Facts only: `analysis/validity/rules.toml` says which values are acceptable. An unknown fact is None, and
    never counts as acceptable.
    """
    of_workload = facts_of(rows.trial["workload"])(rows)
    energy = energy_facts(rows, of_workload.metrics)
    added = (row for one in computed_metrics() if one.compute for row in one.compute(rows))
    metrics = [
        *utilization_metrics(rows),
        *canary_metrics(rows),
        *of_workload.metrics,
        *energy.metrics,
        *_block_caches(rows.trial),
        *added,
    ]
    checks = {
        **_UNKNOWN,
        **_of_record(rows),
        **monitor_checks(rows, metrics),
        **energy.checks,
        **_numbers(rows.trial, metrics),
        **of_workload.checks,
    }
    checks["cold_share"] = _cold_share(rows.trial, metrics)
    several = checks["started_together"] and len(rows.of("clients")) > 1
    checks["clients_cpu_share"] = checks["client_cpu_share"] if several else None
    share = checks["client_gc_share"]
    checks["client_gc_noted"] = share if share is not None and share <= GC_BEARABLE else None
    return Facts(metrics, checks)


def _of_record(rows: Rows) -> Row:
    trial = rows.trial
    exit_codes = if_all(client["exit_code"] for client in rows.of("clients"))
    background = if_all((trial["compactions"], trial["splits"]))
    return {
        **{name: trial[name] for name in _OF_TRIAL},
        "mode": trial["mode"] or trial["mix"],
        "daemons_gone": None,
        "state_reason": "; ".join(trial["state_reasons"]),
        "window_s": window_s(trial),
        "clients_failed": None if exit_codes is None else sum(code != 0 for code in exit_codes),
        "has_tier": trial["tier"] is not None,
        "tier_hits": trial["l1_hits" if trial["tier"] == HEAP else "l2_hits"],
        "has_network": trial["network"] is not None,
        "background_work": None if background is None else sum(background),
        **_quarantined(rows.of("quarantine")),
    }


def _quarantined(lines: Sequence[Row]) -> Row:
    results = [row for row in lines if is_result(row["kind"])]
    return {
        "result_lines_quarantined": len(results),
        "result_quarantine": min(
            (f"{row['kind']} line {row['line']} {row['reason']}" for row in results), default=None
        ),
        "sample_lines_quarantined": sum(row["kind"] in SAMPLES for row in lines),
    }


def _block_caches(trial: Row) -> Iterator[Row]:
    """How many blocks each trial found in the block caches of its RegionServers, by their own counters; of
    HDFS's cache, how much of what it read. Unknown if a server did not tell, or nothing was looked for.

    The counters are read before and after the window, so that they include its ramp-up.
    """
    if trial["tier"] is None:
        return
    if trial["tier"] != HDFS_PMEM:
        yield metric("l1_hit_percent", PERCENT, _hit_percent(trial, "l1"))
        yield metric("cache_evictions", "blocks", trial["cache_evictions"])
    if trial["tier"] != HEAP:  # with a cache beside the heap
        yield metric("l2_hit_percent", PERCENT, _hit_percent(trial, "l2"))


def _hit_percent(trial: Row, level: str) -> float | None:
    found = if_all((trial[f"{level}_hits"], trial[f"{level}_misses"]))
    return None if found is None else over(100.0 * found[0], sum(found))


def _numbers(trial: Row, metrics: Sequence[Row]) -> Row:
    """cluster_cpu (mean over the hosts), rates_unknown, numbers_out_of_range and an example of these.

    A share may leave 0 to 100 % by the tolerance of a sample's sum of shares (method 19). Concurrent maps
    are a count, not a rate."""
    hosts = if_all(m["value"] for m in metrics if m["name"] == "cpu_used" and _is_host(m))
    seen = trial["hosts_unseen"] == 0 and hosts is not None
    bad = [m for m in metrics if _is_impossible(m)]
    return {
        "cluster_cpu": (exact_sum(hosts) or 0.0) / len(hosts) if hosts and seen else None,
        "rates_unknown": _rates_unknown(trial, metrics),
        "numbers_out_of_range": len(bad) if metrics else None,
        "number_out_of_range": min(map(_text, bad), default=None),
    }


def _rates_unknown(trial: Row, metrics: Sequence[Row]) -> int | None:
    """For a record that others made, None if no rate is known. One rate is enough: few keep what all need."""
    rates = [one for one in metrics if _is_rate(one["name"], trial["workload"])]
    unknown = sum(one["value"] is None for one in rates)
    if trial["mode"] == "truncate":  # moves no bytes
        return 0
    if trial["imported"]:
        return 0 if len(rates) > unknown else None
    return unknown if metrics else None


def _is_rate(name: str, workload: str) -> bool:
    return name.startswith("throughput") or name == own_rate(workload)


def _is_host(number: Row) -> bool:
    return str(number.get("scope") or "").startswith("host:")


def _is_impossible(number: Row) -> bool:
    value = number["value"]
    differs = str(number.get("scope") or "").startswith(
        "host-less-client:"
    )  # of two monitors' figures
    if value is None or differs:
        return False
    is_share = number["unit"] == PERCENT
    return bool(
        value < (-SHARE_TOLERANCE if is_share else 0.0)
        or (is_share and value > 100.0 + SHARE_TOLERANCE)
    )


def _text(number: Row) -> str:
    parts = (
        number["name"],
        number.get("scope"),
        number.get("operation"),
        number["value"],
        number["unit"],
    )
    return " ".join(str(part) for part in parts if part is not None)


def _cold_share(trial: Row, metrics: Sequence[Row]) -> float | None:
    """Bytes read from disks over distinct bytes requested (method 5). Bytes read are the record's count,
    else dool's rate for the whole machine times the window."""
    length_s, read = window_s(trial), trial["physical_read_bytes"]
    # a partial sum would make a cold read look warm
    disks = if_all(one["value"] for one in metrics if one["name"] == "disk_read")
    if length_s is None:
        return None
    if (
        read is None and disks is not None and not trial["existing"]
    ):  # there dool watches only the client's
        read = (exact_sum(disks) or 0.0) * MIB * length_s
    return over(read, trial["distinct_bytes_asked"])
