"""The pages of shipped studies, with what they decide by their plans and in rehearsals, and of the talk's
claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from density_study.analysis.findings.claims import CLAIMS
from density_study.analysis.findings.power_of_design import SPREADS
from density_study.analysis.findings.question_power import questions_of
from density_study.analysis.statistics.power import POWER
from density_study.workloads.base.quantity import duration
from density_study.workloads.planning.planned_study import PlannedStudy, outlined_study
from density_study.workloads.study.shipped import shipped_studies
from docs.generator import rehearsed
from docs.generator.markdown import page, table


def shipped_studies_page() -> str:
    introduction = (
        "Complete studies to run or to copy: `study run NAME`, `study example NAME FILE`. Times are planned, "
        "on the hosts that the study names."
    )
    made = {name: outlined_study(path) for name, path in sorted(shipped_studies().items())}
    every = (
        (name, one.study.question or "", duration(one.plan.estimate_s))
        for name, one in made.items()
    )
    deciding = (
        "## What they decide\n",
        "Power is the chance, at least, that all comparisons of a question get the right verdict if the "
        "planned ratios are true, at three levels of noise between builds. The last columns are from "
        f"{rehearsed.TIMES} rehearsals at 2.5 %, by `python -m docs.generator.rehearsed`: how often the "
        "least certain comparison is decided rightly, how many reports have a wrong claim if variants are "
        "alike, and the median time. Studies without a question that can be decided at 2.5 % are not here: "
        "they only show.\n",
    )
    header = ("study", "question", "comparisons", "power at 2.5, 5 and 10 %", "takes at most",
              "decided rightly", "wrong claims", "takes")  # fmt: skip
    body = (
        *table(("study", "question", "takes at most"), every),
        *deciding,
        *table(header, _decided(made)),
    )
    return page("Shipped studies", introduction, body)


def _decided(studies: Mapping[str, PlannedStudy]) -> Iterator[tuple[str, ...]]:
    seen = rehearsed.known()
    for name, made in studies.items():
        repetitions = made.plan.repetitions
        for one in questions_of(made.study, made.plan):
            chances = [one.power(repetitions, noise) for noise in SPREADS]
            if chances[0] >= POWER:
                words = ", ".join(f"{chance:.0%}" for chance in chances)
                parts = str(len(one.comparisons))
                takes = duration(made.plan.estimate_s)
                columns = _rehearsed(seen.get(name, {}), one.name)
                yield f"`{name}`", f"`{one.name}`", parts, words, takes, *columns


def _rehearsed(seen: Mapping[str, Any], question: str) -> tuple[str, str, str]:
    if "why_not" in seen:
        return f"not rehearsed: {seen['why_not'].rstrip('.')}", "", ""
    if not seen:
        return "not rehearsed", "", ""
    right = seen["right"].get(question)
    rightly = "nothing to decide" if right is None else f"{right:.0%}"
    return rightly, f"{seen['wrong']:.1%}", duration(3600 * seen["hours"])


def claims_page() -> str:
    introduction = (
        "K. Shvachko and J. Sundar, *Hadoop and HBase on the Cloud: A Case Study on Performance and "
        "Isolation*, ApacheCon NA 2013. The rules of C1 to C8 were written on 2026-11-21 and that of C9 on "
        "2026-11-26, before any data on VMs. `talk-2013` measures all of them.\n\n"
        "A claim is *confirmed* if every part is, and *refuted* if one part is "
        "([statistics](../methodology.md#statistics)). It is *inconclusive* with fewer than 5 builds, "
        "missing variants, unequal disclosures, emulated disks, HDDs without read-ahead, process groups "
        "instead of VMs (C5 to C7, C9), or if chance is not excluded."
    )
    rows = [(claim.id, claim.statement, claim.rule) for claim in CLAIMS]
    notes = (
        "Claims about disks use the least dense variant of each disk type at the most threads of each "
        "data-set size; claims about VMs use the short scans of the largest data set, on flash if available. "
        'Latency is intended latency if it was recorded. C7\'s "peaks near 100 %" is not judged, because '
        "the summary holds means. C9 is not compared with the bare host, where a victim has no neighbour."
    )
    body = (*table(("claim", "statement", "rule: each of"), rows), notes)
    return page("The claims of the talk, and the rules that decide them", introduction, body)
