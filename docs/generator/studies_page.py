"""The page of what shipped studies decide: by their plans, and in rehearsals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from density_study.analysis.findings.power_of_design import SPREADS
from density_study.analysis.findings.question_power import questions_of
from density_study.analysis.statistics.power import POWER
from density_study.workloads.base.quantity import duration
from density_study.workloads.planning.planned_study import outlined_study
from density_study.workloads.study.shipped import shipped_studies
from docs.generator import rehearsed
from docs.generator.markdown import page, table


def shipped_studies_page() -> str:
    introduction = (
        "What each shipped study decides in its own time. Power is from its plan: the chance that all "
        "comparisons of a question get the verdict that is right, at least, if the ratios are those that the "
        "plan names, at three levels of noise between builds. The last columns are from "
        f"{rehearsed.TIMES} rehearsals at 2.5 %, by `python -m docs.generator.rehearsed`: how often the "
        "least certain comparison is decided rightly, how many reports have a wrong claim if variants are "
        "alike, and the median time. Studies without a question that can be decided at 2.5 % are not here: "
        "they only show."
    )
    header = ("study", "question", "comparisons", "power at 2.5, 5 and 10 %", "takes at most",
              "decided rightly", "wrong claims", "takes")  # fmt: skip
    return page("What shipped studies decide", introduction, table(header, _decided()))


def _decided() -> Iterator[tuple[str, ...]]:
    seen = rehearsed.known()
    for name, path in sorted(shipped_studies().items()):
        made = outlined_study(path)
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
