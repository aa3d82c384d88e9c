"""The numeric rules of C1 to C8, fixed before any data: which arms, which ratio, which bounds.

`python -m analysis.findings` prints them as the table of docs/claims.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from analysis.findings import media_claims, vm_claims
from analysis.findings.question import Evidence, Question


@dataclass(frozen=True)
class Part:
    """One inequality of a claim. `needs`: the arms that a study must have to decide it."""

    name: str
    rule_words: str
    needs: str


@dataclass(frozen=True)
class Claim:
    id: str
    statement: str
    parts: tuple[Part, ...]
    questions: Callable[[Evidence], Iterable[Question]]


CLAIMS = (
    Claim(
        "C1",
        "HDD random-read throughput stops growing with readers; flash grows without saturating",
        (
            Part(
                "hdd",
                "hdd: random reads at the most readers over those at about half as many: below 1.1",
                "random reads on hdd at two numbers of readers",
            ),
            Part(
                "flash",
                "flash: the same ratio: above 1.1",
                "random reads on flash at two numbers of readers",
            ),
        ),
        media_claims.c1,
    ),
    Claim(
        "C2",
        "random, backward and skip reads give very similar results on cold data",
        (
            Part("backward", "backward over random: 0.8 to 1.25", "random and backward reads"),
            Part("skip", "skip over random: 0.8 to 1.25", "random and skip reads"),
        ),
        media_claims.c2,
    ),
    Claim(
        "C3",
        "sequential HDFS reads gain little from flash",
        (Part("read", "sequential reads, flash over hdd: below 1.25", "reads on flash and hdd"),),
        media_claims.c3,
    ),
    Claim(
        "C4",
        "data load gains little from flash; the 45/55 mix gains substantially; short scans gain most",
        (
            Part("load", "load, flash over hdd: below 1.25", "the load on flash and hdd"),
            Part("mix", "45/55 mix, flash over hdd: above 1.25", "the 45/55 mix on flash and hdd"),
            Part(
                "scan",
                "gain of the short scans over gain of the mix, by build: above 1",
                "short scans and the 45/55 mix on flash and hdd",
            ),
        ),
        media_claims.c4,
    ),
    Claim(
        "C5",
        "each VM added to a host adds about 20 % throughput to the short-scan workload; the bare "
        "host's curve is flat",
        (
            Part(
                "vm",
                "short scans, each density over the next lower one: 1.1 to 1.3 for each VM added",
                "short scans at two densities from 1 VM on",
            ),
            Part(
                "flat",
                "bare host: short scans at the most threads over the fewest: 0.8 to 1.25",
                "short scans on the bare host at two numbers of threads",
            ),
        ),
        vm_claims.c5,
    ),
    Claim(
        "C6",
        "latency grows much faster with threads on the bare host (about doubling a step) than on VMs",
        (
            Part(
                "bare",
                "bare host: SCAN p50 at the most threads over the fewest: 1.6 to 2.5 for each doubling",
                "short scans on the bare host at two numbers of threads",
            ),
            Part(
                "vm",
                "that growth on the most VMs over that on the bare host, by build: below 0.8",
                "short scans on the bare host and on VMs at two numbers of threads",
            ),
        ),
        vm_claims.c6,
    ),
    Claim(
        "C7",
        "on the bare host most CPU is idle; on VMs utilization is far higher; wait stays about 1 % in "
        "both (peaks are not judged)",
        (
            Part("idle", "bare host: idle over 50 %: above 1", "short scans on the bare host"),
            Part(
                "used",
                "used CPU of the hosts, most VMs over the bare host: above 1.5",
                "short scans on the bare host and on VMs",
            ),
            Part("wait", "wait over 2 %, both: below 1", "short scans on the bare host and on VMs"),
        ),
        vm_claims.c7,
    ),
    Claim(
        "C8",
        "on the 45/55 mix disk latency is much higher than flash, at both data-set sizes",
        (
            Part(
                "latency",
                "READ p99, flash over hdd: below 0.67, at each size",
                "the 45/55 mix on flash and hdd",
            ),
            Part("sizes", "the same at a second size", "the 45/55 mix at two data-set sizes"),
        ),
        media_claims.c8,
    ),
)


def table() -> str:
    """Markdown: claim, statement, its parts' rules."""
    lines = ["| claim | statement | rule: each of |", "|---|---|---|"]
    for claim in CLAIMS:
        rules = "; ".join(part.rule_words for part in claim.parts)
        lines.append(f"| {claim.id} | {claim.statement} | {rules} |")
    return "\n".join(lines) + "\n"
