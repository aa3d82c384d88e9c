"""Looks at a run that is under way: how precise its comparisons are, from only the records."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from density_study.analysis.findings.power_of_design import made_up
from density_study.analysis.findings.precision import compared, looks
from density_study.analysis.findings.question import Evidence
from density_study.cluster.model.isolation import isolation_of
from density_study.jobs.first_look.look import first_look
from density_study.workloads.record.record import closed_records
from density_study.workloads.record.searches import answers

if TYPE_CHECKING:
    from density_study.analysis.summary.summary import Look
    from density_study.workloads.execution.run import Run


def looks_of(run: Run, until: float) -> tuple[Look, ...]:
    """Every comparison of throughput with the trials that are valid so far."""
    records = closed_records(run.records)
    answered = answers(records.values())
    test_cases = {test_case.id: test_case for test_case in run.study.test_cases()}
    points: dict[tuple[str, str], list[float]] = defaultdict(list)
    for step in run.plan.trials:
        manifest = records.get(str(step.trial))
        is_regular = step.test_case and step.overhead_pair is None
        if step.test_case and is_regular and step.test_case.id in test_cases:
            found = points[step.test_case.id, run.plan.builds[step.build]]
            if manifest and (not step.probe or step.trial in answered):
                look = first_look(run.records / str(step.trial))
                if look.verdict == "valid" and look.rate:
                    found.append(look.rate)
    variants = tuple(
        made_up(run.plan.topologies[topology], test_cases[test_case], tuple(rates))
        for (test_case, topology), rates in points.items()
    )
    isolation = isolation_of(one.isolation for one in run.plan.topologies.values())
    questions = compared(Evidence(variants, run.plan.repetitions, isolation), run.study.hypotheses)
    return looks(questions, until)
