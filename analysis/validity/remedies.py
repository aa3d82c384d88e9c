"""What to do when a trial breaks a rule of `analysis.validity.rules`, by the rule's check."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_REPEAT = "Start a new run: a run does not repeat its trials."
_DAMAGED = "Restore the record from a copy, then repeat the analysis with `study report`."
_BUG = "Report it as a bug, with the record: two measurements of the same work disagree."

REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "state": f"See `records/<trial>/logs` for the failed client or daemon. {_REPEAT}",
        "window_s": f"See `records/<trial>/logs`: the client did not start its work. {_REPEAT}",
        "clients_failed": f"See the client's standard error in `records/<trial>/raw`. {_REPEAT}",
        "failed_operations": "See the client's standard error for the HBase exception. Lower `threads`, or "
        "give the nodes more memory.",
        "work_share": "See the client's standard error. Give the load or the trial more time.",
        "monitor_coverage": "Remove other work from the host, or give the study fewer cores, so that "
        "the monitor gets CPU time.",
        "clock_periods": "Synchronise the clocks of the hosts with NTP, or use a longer `monitor.period`.",
        "cpu_sum_error": "Check that the container or VM does not hide parts of `/proc/stat`.",
        "cold_share": "Use more data than the host's memory holds (`files`, `file_size`), and check that "
        "the page cache can be evicted.",
        "client_cpu_share": "Give the client more cores, a host of its own, or several `clients`.",
        "cpu_excess": "Check the clocks of host and monitors, and use a longer trial.",
        "foreign_cpu": "Stop other work on the host, then start a new run.",
        "target_share": "Unsustained: use a lower rate in `latency_at`. Backlog: use a longer `warm_up`.",
        "drift": "Use a longer `warm_up` or `duration`, and check for thermal throttling and compactions.",
        "background_work": "Use a longer `warm_up_daemons`, so that compactions end before the trial.",
        "compiling_share": "Use a longer `warm_up`, or fewer RegionServers per core.",
        "result_lines_quarantined": f"See the table `quarantine`. {_DAMAGED}",
        "sample_lines_quarantined": f"See the table `quarantine`. {_DAMAGED}",
        "rate_error": _BUG,
        "histogram_error": _BUG,
        "little_error": "Check the client's logs for threads that ended early or waited outside operations.",
        "rates_unknown": f"See the table `quarantine` and the client's output. {_DAMAGED}",
        "numbers_out_of_range": _BUG,
        "access_spread": "Use more data than the host's memory holds (`files`, `file_size`).",
    }
)
