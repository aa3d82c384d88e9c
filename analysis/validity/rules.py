"""What a trial must satisfy to be believed, as data: one rule a check, after the method's numbers."""

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
"""What a rule is about: Great Expectations validates, and shows, each suite apart."""


@dataclass(frozen=True)
class Rule:
    """Column `check` must lie in [low, high], or be one of `allowed`, where column `only` is `equal`.

    broken: what a value outside makes of the trial; `flag` is told and decides nothing.
    null: a check that could not run makes the trial unknown; `pass` where its absence is normal.
    reason, missing: plain words; {column} stands for the trial's value in that column.
    """

    check: str
    suite: Suite
    reason: str
    missing: str = ""
    low: float | None = None
    high: float | None = None
    allowed: tuple[str, ...] | None = None
    only: str | None = None
    equal: str | bool | None = None
    broken: Outcome = "invalid"
    null: IfNull = "unknown"


TARGET_HELD = (0.98, 1.02)
"""Rate achieved over rate asked for, within which a trial's latency is that of its target rate."""

RULES: tuple[Rule, ...] = (
    Rule(
        "state",
        "completeness",
        allowed=("complete",),
        reason="the trial is {state}: {state_reason}",
        missing="the trial's state is not recorded",
    ),
    Rule(
        "window_s",
        "completeness",
        low=0.001,
        reason="the workload's window is empty",
        missing="when the workload ran is not recorded",
    ),
    Rule(
        "clients_failed",
        "errors",
        high=0,
        reason="{clients_failed:.0f} client(s) ended with an exit code other than 0",
        missing="a client's exit code is not known",
    ),
    Rule(  # method 9: many client errors exit 0
        "failed_operations",
        "errors",
        high=0,
        only="workload",
        equal="ycsb",
        reason="{failed_operations:.0f} operations failed, by their Return counts",
        missing="how many operations failed is not known: no Return counts",
    ),
    Rule(
        "work_share",
        "completeness",
        low=0.99,
        reason="only {work_share:.1%} of the work asked for was done",
        missing="how much of the work asked for was done is not known",
    ),
    Rule(  # method 20
        "monitor_coverage",
        "samples",
        low=0.95,
        only="monitored",
        equal=True,
        reason="{monitor_worst} has {monitor_coverage:.1%} of the samples expected in the window,"
        " less than 95 %",
        missing="no monitor's samples could be counted in the window",
    ),
    Rule(  # method 18
        "clock_periods",
        "clock",
        high=0.5,
        broken="flag",
        only="monitored",
        equal=True,
        reason="clock: a host's clock is {clock_periods:.2f} sampling periods from the controller's,"
        " more than half a period",
        missing="a host's clock was not compared with the controller's",
    ),
    Rule(  # method 19
        "cpu_sum_error",
        "cpu",
        high=1.0,
        only="monitored",
        equal=True,
        reason="CPU shares of a sample miss 100 % by {cpu_sum_error:.1f} points",
        missing="CPU shares could not be summed: no host sample",
    ),
    Rule(  # method 5
        "cold_share",
        "cache",
        low=0.9,
        only="must_be_cold",
        equal=True,
        reason="may be served from memory: the disks read {cold_share:.1%} of the distinct bytes"
        " asked for",
        missing="may be served from memory: what the disks read is not known",
    ),
    Rule(  # method 4
        "client_cpu_share",
        "load",
        high=0.8,
        broken="flag",
        only="monitored",
        equal=True,
        reason="client-bound: the client used {client_cpu_share:.0%} of its cores",
        missing="the client's CPU is not known",
    ),
    Rule(  # method 19: guests and host reconciled
        "cpu_excess",
        "cpu",
        high=5.0,
        broken="flag",
        null="pass",  # no node sample or no host sample: other checks say so
        reason="CPU accounts disagree: the nodes' processes used {cpu_excess:.0f} points more than"
        " their host",
    ),
    Rule(  # kernel threads and monitors are 1 to 5 points: seen on an idle machine
        "foreign_cpu",
        "cpu",
        high=10.0,
        broken="flag",
        null="pass",
        reason="other work: {foreign_cpu:.0f} % of the host's CPU went to processes of no node",
    ),
    Rule(  # method 4
        "target_share",
        "load",
        low=TARGET_HELD[0],
        only="has_target",
        equal=True,
        broken="flag",
        reason="unsustained: {target_share:.1%} of the target rate was achieved",
        missing="the achieved rate is not known",
    ),
    Rule(  # a client that fell behind in its warm-up does more than the target until it has caught up
        "target_share",
        "load",
        high=TARGET_HELD[1],
        only="has_target",
        equal=True,
        broken="flag",
        null="pass",
        reason="backlog: {target_share:.1%} of the target rate was done; what had waited since the"
        " warm-up is in the intended latency: give a longer warm_up",
    ),
    Rule(  # method 7; the bounds are those of "similar" (method 2)
        "drift",
        "load",
        low=0.8,
        high=1.25,
        broken="flag",
        null="pass",  # no interval logs, or too short to be cut in three: other checks say so
        reason="drift: the last third of the measured time ran at {drift:.2f} times the first's rate",
    ),
    Rule(  # method 6
        "background_work",
        "load",
        high=0,
        broken="flag",
        null="pass",
        reason="background work: {background_work:.0f} compactions or splits in the window",
    ),
    Rule(  # above what `workloads.ycsb.warm_up` calls rest: its limit ended the warm-up
        "compiling_share",
        "load",
        high=0.05,
        broken="flag",
        null="pass",
        reason="not warm: a RegionServer's compilers still took {compiling_share:.0%} of a core when the"
        " warm-up reached its limit",
    ),
    Rule(
        "result_lines_quarantined",
        "completeness",
        high=0,
        broken="unknown",
        reason="{result_lines_quarantined:.0f} line(s) of the results could not be read; one:"
        " {result_quarantine}",
        missing="the results were not read",
    ),
    Rule(
        "sample_lines_quarantined",
        "samples",
        high=0,
        broken="flag",
        reason="samples: {sample_lines_quarantined:.0f} line(s) could not be read and count as missing",
        missing="the samples were not read",
    ),
    Rule(
        "rate_error",
        "arithmetic",
        high=0.02,
        reason="the tool's rate times its time misses its work by {rate_error:.1%}",
        missing="the tool's rate could not be held against its work and time",
    ),
    Rule(
        "histogram_error",
        "arithmetic",
        high=0.01,
        only="workload",
        equal="ycsb",
        reason="histograms and Return counts differ by {histogram_error:.1%} of the operations",
        missing="histograms could not be held against Return counts",
    ),
    Rule(
        "little_error",
        "arithmetic",
        high=0.02,
        only="closed_loop",
        equal=True,
        reason="Little's law N = X (R + Z) does not close: {little_error:.1%} of the client threads'"
        " time is missing or counted twice",
        missing="Little's law N = X (R + Z) could not be checked: the client's time between"
        " operations (Z) was not measured",
    ),
    Rule(
        "rates_unknown",
        "completeness",
        high=0,
        broken="unknown",
        reason="{rates_unknown:.0f} of the trial's rates could not be computed",
        missing="the trial has no rate",
    ),
    Rule(
        "numbers_out_of_range",
        "ranges",
        high=0,
        reason="{numbers_out_of_range:.0f} number(s) are impossible: a share outside of 0 to 100 %, a"
        " rate or a latency below zero; one: {number_out_of_range}",
        missing="the trial has no number",
    ),
    Rule(  # method 15
        "access_spread",
        "agreement",
        high=0.2,
        broken="unknown",
        null="pass",
        reason="caching suspected: random, backward and skip reads differ by {access_spread:.0%}",
    ),
)
