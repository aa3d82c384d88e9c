"""Rehearses a study: its plan on a simulated cluster, step by step, to its report. Does not import Airflow.

The steps, records, analysis and report are those of a real run; only the clients and monitors are a model,
and time is simulated. Rehearsals have a folder of their own beside the runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.simulated import SIMULATED
from density_study.cluster.providers.simulated.effects import Effects
from density_study.cluster.providers.simulated.noise import Noise
from density_study.cluster.providers.simulated.rehearsal import Rehearsal, write_rehearsal
from density_study.cluster.state import own_runs
from density_study.cluster.state.atomic import write_text
from density_study.cluster.state.clock import SimulatedClock
from density_study.cluster.state.events import RunOpened
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.own_runs import PLAN, STUDY
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.run_id import next_run_id
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.dags.stages.precision import look
from density_study.workloads.execution.run import Run, end_run, load_run
from density_study.workloads.execution.steps import carry_out, close_run
from density_study.workloads.planning.plan import Plan, Step, make_plan, plan_text, write_plan
from density_study.workloads.planning.planned_study import PlannedStudy, new_runs
from density_study.workloads.planning.preflight import disk_need_mib
from density_study.workloads.planning.resolve import assumed_hosts, planned_hosts
from density_study.workloads.simulated.effects_file import check_effects
from density_study.workloads.simulated.models import not_modelled
from density_study.workloads.study.providers.registry import rules_of
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import StudyFile, read_study

if TYPE_CHECKING:
    from density_study.analysis.rehearsal.decisions import Decisions


@dataclass(frozen=True)
class Foreseen:
    """A study's plan on simulated clusters, and what is taken for true there. `disk_mib`: the most that the
    study needs of real disks."""

    file: StudyFile
    plan: Plan
    rehearsal: Rehearsal
    disk_mib: int

    @property
    def most_s(self) -> float:
        """Simulated time that the study may take, in seconds."""
        return min(self.plan.estimate_s, self.file.study.budget or inf)

    def facts(self) -> dict[str, object]:
        """The rehearsal as plain values, for other programs."""
        return {
            "simulated": True,
            "study": self.file.study.study,
            "trials": len(self.plan.trials),
            "estimate_s": self.most_s,
            "disk_mib": self.disk_mib,
            "effects": self.rehearsal.effects.name,
            "noise": asdict(self.rehearsal.noise),
        }

    def decided(self, times: int) -> Decisions:
        """For that many rehearsals without records; the first has the seed of the one with records."""
        from density_study.analysis.findings.question_power import asked_of_plan, questions_of
        from density_study.analysis.rehearsal.course import course_of
        from density_study.analysis.rehearsal.decisions import decisions
        from density_study.analysis.rehearsal.drawn import Drawing

        asked = asked_of_plan(self.file.study, self.plan)
        seeds = range(self.rehearsal.seed, self.rehearsal.seed + times)
        budget_s = self.file.study.budget
        left_s = None if budget_s is None else budget_s - ANALYSIS_ESTIMATE_S
        questions = questions_of(self.file.study, self.plan)
        decide = partial(course_of, self.plan, asked, budget_s=left_s, questions=questions)
        return decisions(Drawing(self.plan, self.rehearsal), decide, seeds)


def foreseen(
    file: StudyFile, folder: Path, effects: Effects, noise: Noise, only: tuple[str, ...] = ()
) -> Foreseen:
    """Contacts no host, and starts nothing. InputError as of `rehearsed_plan`, `check_names` and
    `check_effects`."""
    from density_study.analysis.findings.question_power import check_names

    plan = rehearsed_plan(file, folder, only)
    if not only:  # a part of the test cases has a part of the questions
        with file.placing_faults():
            check_names(file.study, plan, file.study.study)
    modes = {step.test_case.mode_name for step in plan.trials if step.test_case is not None}
    check_effects(effects, plan.built, modes)
    rehearsal = rehearsal_of(plan, effects, noise, file.study.seed)
    return Foreseen(file, plan, rehearsal, disk_need_mib(file.study))


def rehearsed_plan(file: StudyFile, folder: Path, only: tuple[str, ...] = ()) -> Plan:
    """The study's plan with all builds on simulated clusters. Contacts no host. InputError if the study
    cannot be rehearsed."""
    study = file.study
    with file.placing_faults():
        if study.existing is not None:
            raise InputError(
                "an existing cluster cannot be rehearsed: nothing is known of its hosts.",
                "provider existing",
                "rehearse a study with provider local, physical, container or libvirt.",
                ("provider",),
            )
        plan = make_plan(study, _hosts(study, folder), only)
    _check_models(plan)
    model = provider_named(SIMULATED)
    topologies = {topology.name: replace(topology, provider=model) for topology in plan.built}
    return plan.model_copy(update={"topologies": topologies})


def _check_models(plan: Plan) -> None:
    """InputError if nothing models a test case; its remedy names those that can be rehearsed."""
    cases = {step.test_case.id: step.test_case for step in plan.trials if step.test_case}
    whys = {name: why for name, one in cases.items() if (why := not_modelled(one))}
    if not whys:
        return
    beside = {cases[name].workload for name in whys}
    able = [one for name, one in cases.items() if name not in whys]
    globs = [one.id if one.workload in beside else f"{one.workload}-*" for one in able]
    only = " ".join(f"--only {quote(glob)}" for glob in dict.fromkeys(globs))
    remedy = f"rehearse the other test cases: study rehearse SPEC {only}"
    if not able:
        remedy = (
            "no test case of this study can be rehearsed; choose another study, such as quickstart."
        )
    name, why = next(iter(whys.items()))
    raise InputError(f"{name}: {why}", "workloads", remedy)


def planned(
    spec: Path, overrides: Mapping[str, object], folder: Path, only: tuple[str, ...] = ()
) -> PlannedStudy:
    """The study in `spec` with the plan that is rehearsed."""
    file = read_study(spec, overrides)
    return PlannedStudy(file, rehearsed_plan(file, folder, only))


def rehearsal_of(plan: Plan, effects: Effects, noise: Noise, seed: int) -> Rehearsal:
    first = min(plan.built, key=lambda topology: topology.order)
    return Rehearsal(first, effects, noise, seed)


def rehearse(seen: Foreseen, folder: Path) -> Path:
    """Carry out one rehearsal with records and write its report. Returns its folder."""
    root = perform(seen, folder)
    from density_study.jobs.pipeline import analyse

    analyse(root)
    end_run(load_run(root), "ok")
    return root


def perform(seen: Foreseen, folder: Path, show: Callable[[Step], None] = lambda _: None) -> Path:
    """The steps of the plan, each with its record. Returns the folder of the rehearsal."""
    folder, file, plan = folder.absolute(), seen.file, seen.plan
    with new_runs(folder):
        root = folder / file.study.study / next_run_id(folder)
        own_runs.make_folder(root)
    own_runs.register(root, plan_text(plan))
    write_text(root / STUDY, file.text)
    write_plan(plan, root / PLAN)
    write_rehearsal(root, seen.rehearsal)
    # long enough ago that its last step has ended when its analysis begins
    clock = SimulatedClock(time.time() - 2 * plan.estimate_s)
    run = Run(root, file.study, plan, Journal(root / JOURNAL, clock))
    owner = Owner.of_process(os.getpid())
    run.journal.record(RunOpened(study=run.study.study, run=run.id, tag=run.tag, owner=owner))
    for step in plan.steps:
        show(step)
        if step.kind == "up":
            look(run, step)
        carry_out(run, step)
    close_run(run)
    return root


def _hosts(study: Study, folder: Path) -> tuple[Host, ...]:
    """Hosts of others are not contacted: what is `auto` of them is assumed."""
    if study.ssh is not None and not rules_of(study.provider).declares_hosts:
        return assumed_hosts(study)
    return planned_hosts(study, folder)
