"""Validity rules as data: what a trial must satisfy before its numbers are used.

Each rule names the cause in `reason` and `missing`, and what to do about it in `remedy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["invalid", "unknown", "flag"]
IfNull = Literal["unknown", "pass"]
Suite = Literal[
    "completeness",
    "errors",
    "samples",
    "clock",
    "cpu",
    "cache",
    "load",
    "ranges",
    "arithmetic",
    "agreement",
]
"""The topic of a rule. Great Expectations validates and shows each suite separately."""


@dataclass(frozen=True)
class Rule:
    """Column `check` must lie in [low, high], or be one of `allowed`, if column `only` equals `equal`.

    broken: the trial's verdict if it does not; a `flag` is reported but does not change the verdict.
    null: a null in the column makes the trial unknown; `pass` if a null is normal.
    reason, missing: the cause, with {column} for the trial's value. remedy: what to do about it.
    """

    check: str
    suite: Suite
    reason: str
    remedy: str
    missing: str = ""
    low: float | None = None
    high: float | None = None
    allowed: tuple[str, ...] | None = None
    only: str | None = None
    equal: str | bool | None = None
    broken: Outcome = "invalid"
    null: IfNull = "unknown"


TARGET_HELD = (0.98, 1.02)
"""Achieved rate over target rate: within this range the latency is that of the target rate."""

RULES: tuple[Rule, ...] = (
    Rule(
        "state",
        "completeness",
        allowed=("complete",),
        reason="the trial is {state}: {state_reason}",
        remedy="read the trial's logs, then resume the run",
        missing="the record has no state",
    ),
    Rule(
        "window_s",
        "completeness",
        low=0.001,
        reason="the workload's window is empty",
        remedy="give the workload more work or a longer duration",
        missing="the record has no start or end of the workload",
    ),
    Rule(
        "clients_failed",
        "errors",
        high=0,
        reason="{clients_failed:.0f} client(s) exited with a code other than 0",
        remedy="read the clients' logs in the record",
        missing="a client's exit code is unknown",
    ),
    Rule(  # method 9: many client errors exit 0
        "failed_operations",
        "errors",
        high=0,
        only="workload",
        equal="ycsb",
        reason="{failed_operations:.0f} operations failed, according to their Return counts",
        remedy="read the client's and the RegionServers' logs in the record",
        missing="the number of failed operations is unknown: there are no Return counts",
    ),
    Rule(
        "work_share",
        "completeness",
        low=0.99,
        reason="only {work_share:.1%} of the requested work was done",
        remedy="read the workload's log in the record",
        missing="the share of the requested work that was done is unknown",
    ),
    Rule(  # method 20
        "monitor_coverage",
        "samples",
        low=0.95,
        only="monitored",
        equal=True,
        reason="{monitor_worst} has {monitor_coverage:.1%} of the samples expected in the window,"
        " less than 95 %",
        remedy="check that the host is not overloaded and that its monitors run",
        missing="no monitor has samples in the window",
    ),
    Rule(  # method 18
        "clock_periods",
        "clock",
        high=0.5,
        broken="flag",
        only="monitored",
        equal=True,
        reason="clock: a host's clock differs from the controller's by {clock_periods:.2f} sampling"
        " periods, more than half a period",
        remedy="synchronize the hosts' clocks (chrony or ntpd)",
        missing="a host's clock was not compared with the controller's",
    ),
    Rule(  # method 19
        "cpu_sum_error",
        "cpu",
        high=1.0,
        only="monitored",
        equal=True,
        reason="the CPU shares of a sample add up to {cpu_sum_error:.1f} points more or less than 100 %",
        remedy="check the monitor's output in the record",
        missing="CPU shares could not be added up: there is no host sample",
    ),
    Rule(  # method 5
        "cold_share",
        "cache",
        low=0.9,
        only="must_be_cold",
        equal=True,
        reason="may be served from memory: the disks read only {cold_share:.1%} of the distinct bytes"
        " requested",
        remedy="allow the page cache to be dropped, or use a data set larger than RAM",
        missing="may be served from memory: the bytes read from disk are unknown",
    ),
    Rule(  # method 4
        "client_cpu_share",
        "load",
        high=0.8,
        broken="flag",
        only="monitored",
        equal=True,
        reason="client-bound: the client used {client_cpu_share:.0%} of its cores",
        remedy="give the client more cores, or use more clients",
        missing="the client's CPU usage is unknown",
    ),
    Rule(  # method 19: guests and host reconciled
        "cpu_excess",
        "cpu",
        high=5.0,
        broken="flag",
        null="pass",  # other rules cover missing samples
        reason="CPU accounts disagree: the nodes' processes used {cpu_excess:.0f} points more than"
        " their host",
        remedy="do not compare CPU of nodes with CPU of hosts in this trial",
    ),
    Rule(  # kernel threads and monitors use 1 to 5 points on an idle machine
        "foreign_cpu",
        "cpu",
        high=10.0,
        broken="flag",
        null="pass",
        reason="other work: processes outside the cluster used {foreign_cpu:.0f} % of the host's CPU",
        remedy="stop other work on the host while the study runs",
    ),
    Rule(  # method 4
        "target_share",
        "load",
        low=TARGET_HELD[0],
        only="has_target",
        equal=True,
        broken="flag",
        reason="unsustained: the client achieved {target_share:.1%} of the target rate",
        remedy="lower the target rate",
        missing="the achieved rate is unknown",
    ),
    Rule(  # a client that falls behind during ramp-up exceeds the target until it has caught up
        "target_share",
        "load",
        high=TARGET_HELD[1],
        only="has_target",
        equal=True,
        broken="flag",
        null="pass",
        reason="backlog: the client ran at {target_share:.1%} of the target rate to catch up on operations"
        " delayed during ramp-up, so intended latency is too high",
        remedy="use a longer warm_up",
    ),
    Rule(  # method 7; the bounds are those of "similar" (method 2)
        "drift",
        "load",
        low=0.8,
        high=1.25,
        broken="flag",
        null="pass",  # other rules cover missing or too short interval logs
        reason="drift: the last third of the measured time ran at {drift:.2f} times the rate of the first",
        remedy="use a longer warm_up or duration",
    ),
    Rule(  # method 6
        "background_work",
        "load",
        high=0,
        broken="flag",
        null="pass",
        reason="background work: {background_work:.0f} compactions or splits in the window",
        remedy="pre-split the table, or let compactions finish before the trial",
    ),
    Rule(  # above the threshold of `workloads.ycsb.warm_up`: the time limit ended the warm-up
        "compiling_share",
        "load",
        high=0.05,
        broken="flag",
        null="pass",
        reason="not warm: JIT compilation on a RegionServer still used {compiling_share:.0%} of a core when"
        " the warm-up reached its time limit",
        remedy="raise the limit of the server warm-up",
    ),
    Rule(
        "result_lines_quarantined",
        "completeness",
        high=0,
        broken="unknown",
        reason="{result_lines_quarantined:.0f} line(s) of the results could not be parsed, for example:"
        " {result_quarantine}",
        remedy="look up the lines in the table quarantine",
        missing="the results were not read",
    ),
    Rule(
        "sample_lines_quarantined",
        "samples",
        high=0,
        broken="flag",
        reason="samples: {sample_lines_quarantined:.0f} line(s) could not be parsed and count as missing",
        remedy="look up the lines in the table quarantine",
        missing="the samples were not read",
    ),
    Rule(
        "rate_error",
        "arithmetic",
        high=0.02,
        reason="the tool's rate times its run time differs from its work by {rate_error:.1%}",
        remedy="check the tool's output in the record",
        missing="the tool's rate could not be compared with its work and run time",
    ),
    Rule(
        "histogram_error",
        "arithmetic",
        high=0.01,
        only="workload",
        equal="ycsb",
        reason="histograms and Return counts differ by {histogram_error:.1%} of the operations",
        remedy="check the client's output in the record",
        missing="histograms could not be compared with Return counts",
    ),
    Rule(
        "little_error",
        "arithmetic",
        high=0.02,
        only="closed_loop",
        equal=True,
        reason="Little's law N = X (R + Z) does not hold: {little_error:.1%} of the client threads'"
        " time is missing or counted twice",
        remedy="check the client's output in the record",
        missing="Little's law N = X (R + Z) could not be checked: the client's time between"
        " operations (Z) was not measured",
    ),
    Rule(
        "rates_unknown",
        "completeness",
        high=0,
        broken="unknown",
        reason="{rates_unknown:.0f} of the trial's rates could not be computed",
        remedy="check the tool's output in the record",
        missing="the trial has no rate",
    ),
    Rule(
        "numbers_out_of_range",
        "ranges",
        high=0,
        reason="{numbers_out_of_range:.0f} number(s) are impossible (a share outside 0 to 100 %, or a"
        " negative rate or latency), for example: {number_out_of_range}",
        remedy="report this as a bug, with the trial's record",
        missing="the trial has no numbers",
    ),
    Rule(  # method 15
        "access_spread",
        "agreement",
        high=0.2,
        broken="unknown",
        null="pass",
        reason="caching suspected: random, backward and skip reads differ by {access_spread:.0%}",
        remedy="drop the page cache before each read trial, or use a data set larger than RAM",
    ),
)
