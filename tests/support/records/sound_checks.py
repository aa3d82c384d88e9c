"""A row of checks in which every rule holds."""

from __future__ import annotations

from typing import Any

from density_study.workloads.tables import CHECKS

SOUND: dict[str, Any] = {
    **{column.name: None for column in CHECKS.columns},
    "workload": "ycsb", "mode": "load", "imported": False, "accepted": [], "monitored": True,
    "existing": True, "others_requests_s": 0.0, "others_vcores": 0.0, "regionservers_gone": 0,
    "cluster_cpu": 50.0, "daemons_gone": 0, "has_tier": True, "tier": "file", "tiers_in_use": "file",
    "foreign_tiers": 0, "reads_tier": True, "tier_hits": 9,
    "has_network": True, "network": "mtu-9000", "network_broken": 0, "network_seen": "mtu 9000 byte",
    "must_be_cold": True, "has_target": True,
    "state": "complete", "state_reason": "", "window_s": 20.0, "clients_failed": 0,
    "faulted": True, "lost_rows": 0,
    "failed_operations": 0, "work_share": 1.0, "monitor_coverage": 1.0, "monitor_worst": "dool on h1",
    "clock_periods": 0.1, "cpu_sum_error": 0.01, "cold_share": 1.0, "client_cpu_share": 0.3,
    "cpu_excess": -3.0, "foreign_cpu": 3.0, "target_share": 1.0, "drift": 1.0,
    "background_work": 0, "compiling_share": 0.01, "busiest_server": 1.1, "client_gc_share": 0.002,
    "client_gc_noted": 0.002,
    "result_lines_quarantined": 0,
    "sample_lines_quarantined": 0, "rate_error": 0.0, "histogram_error": 0.0,
    "rates_unknown": 0, "numbers_out_of_range": 0, "access_spread": 0.05,
    "machine_apart": 0.01, "machine_time": 1.03, "machine_where": "computation on h1",
    "closed_loop": True, "little_error": 0.004, "started_together": True, "client_late_s": 0.02,
    "clients_overlap": 0.99, "client_lag": 0.97, "clients_cpu_share": 0.3,
}  # fmt: skip
