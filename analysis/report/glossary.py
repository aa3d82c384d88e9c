"""Terms a reader of the report must know. The same words stand in charts, tables and summary.json."""

from __future__ import annotations

TERMS: tuple[tuple[str, str], ...] = (
    (
        "repetition, build, trial",
        "A repetition builds every topology once, in random order. A build is one bring-up of one "
        "topology: the unit for effects of density or medium. A trial is one workload setting run "
        "once on one build.",
    ),
    (
        "valid, invalid, unknown",
        "A trial's verdict. Invalid: a check failed. Unknown: a check could not be made, which is "
        "never taken for a pass. Only valid trials enter charts and statistics; all stay in the table.",
    ),
    (
        "no claim",
        "A finding that these data cannot decide: fewer than 5 builds an arm, an interval that leaves "
        "both answers open, or arms that only stand in for VMs. The effect is shown all the same.",
    ),
    (
        "reproduced, contradicted",
        "A finding whose rule, fixed before the data were seen, holds or fails over its whole interval.",
    ),
    (
        "isolation: process, host, vm",
        "What separates nodes of one host: groups of processes (a stand-in for VMs), nothing (the bare "
        "host is the node), or virtual machines.",
    ),
    (
        "emulated medium",
        "A disk made slower by an I/O limit to stand in for another kind. It never decides a claim.",
    ),
    (
        "per-stream rate",
        "TestDFSIO's own throughput: bytes over the sum of task times, so the mean of one stream, "
        "in MiB/s. The tool prints it as mb/sec.",
    ),
    (
        "map-phase rate",
        "Bytes of all streams together from the first map's start to the last map's end, in MiB/s: "
        "what the cluster delivered, without YARN's start-up.",
    ),
    (
        "whole-job rate",
        "The same bytes over the whole job, start-up included, in MiB/s.",
    ),
    (
        "closed-loop latency",
        "Time from sending a request to its answer, in ms, while each thread sends the next only "
        "after the last answer. It hides waiting (coordinated omission): a stalled server is asked less.",
    ),
    (
        "intended latency",
        "Time from when a request was due at a fixed rate to its answer, in ms, waiting included. "
        "The one to hold against a promise.",
    ),
    (
        "p50, p99",
        "Half, and 99 %, of the operations were at most this slow. From merged histograms, never from "
        "averages of percentiles, and only with enough operations to know.",
    ),
    (
        "used CPU",
        "100 % less idle, iowait and steal, of the cores named. Waiting for a disk and time taken by "
        "the hypervisor are not use.",
    ),
    (
        "variation by second",
        "Steadiness: the standard deviation of a rate's seconds over their mean (coefficient of "
        "variation), in percent, between the first and the last second in which something was done. "
        "Lower is steadier.",
    ),
    (
        "price-performance",
        "A setting's main rate over the price of all hosts of its topology, in USD an hour.",
    ),
    (
        "bring-up",
        "Seconds from nothing to a cluster that is proved ready, by phase; phases may overlap.",
    ),
    (
        "interval",
        "Where the value would plausibly lie if all builds were made again. Absent with too few "
        "builds.",
    ),
)
