"""Terms in the report. Charts, tables and summary.json use the same words."""

from __future__ import annotations

TERMS: tuple[tuple[str, str], ...] = (
    (
        "repetition, build, trial",
        "A repetition (randomised block) builds every topology once, in random order. A build is one "
        "bring-up of one topology, and the unit for effects of density or medium. A trial is one run of "
        "one workload setting on one build.",
    ),
    (
        "valid, invalid, unknown",
        "The verdict of a trial. Invalid: a check failed. Unknown: a check could not run, which never "
        "counts as a pass. Charts and statistics use only valid trials; the table lists all.",
    ),
    (
        "no claim",
        "A finding that the data cannot decide: fewer than 5 builds per arm, an interval that allows "
        "both conclusions, or arms that only stand in for VMs. The effect is shown nevertheless.",
    ),
    (
        "reproduced, contradicted",
        "A finding whose rule, fixed before the data, holds (or fails) over the whole interval.",
    ),
    (
        "isolation: process, host, vm",
        "How nodes on one host are separated: as process groups (a stand-in for VMs), not at all (the "
        "bare host is the node), or as virtual machines.",
    ),
    (
        "emulated medium",
        "A disk slowed down by an I/O limit to stand in for another kind. It supports no claim.",
    ),
    (
        "per-stream rate",
        "TestDFSIO's own throughput: bytes over the sum of task times, which is the mean rate of a "
        "stream, in MiB/s. The tool prints it as mb/sec.",
    ),
    (
        "map-phase rate",
        "Bytes of all streams over the time from the first map's start to the last map's end, in MiB/s: "
        "the cluster's rate without YARN's start-up.",
    ),
    (
        "whole-job rate",
        "The same bytes over the whole job, including start-up, in MiB/s.",
    ),
    (
        "closed-loop latency",
        "Time from sending a request to its response, in ms, when each thread sends the next request "
        "only after a response. It hides waiting (coordinated omission): a stalled server receives "
        "fewer requests.",
    ),
    (
        "intended latency",
        "Time from when a request was due at a fixed rate to its response, in ms, including waiting. "
        "Compare this one with an SLO.",
    ),
    (
        "p50, p99",
        "Percentiles: 50 % and 99 % of the operations took at most this long. Computed from merged "
        "histograms, never as averages of percentiles, and only with enough operations.",
    ),
    (
        "used CPU",
        "100 % minus idle, iowait and steal, of the named cores. Waiting for a disk and time taken by "
        "the hypervisor do not count as use.",
    ),
    (
        "variation by second",
        "Steadiness: the coefficient of variation of the rate per second (standard deviation over mean), "
        "in percent, from the first to the last second with operations. Lower is steadier.",
    ),
    (
        "price-performance",
        "A setting's main rate divided by the price of all hosts of its topology, in USD per hour.",
    ),
    (
        "bring-up",
        "Seconds from the start to a cluster that has passed its readiness checks, by phase; phases may "
        "overlap.",
    ),
    (
        "interval",
        "95 % confidence interval over builds (Student's or Welch's t on logarithms). Absent with fewer "
        "than 5 builds.",
    ),
)
