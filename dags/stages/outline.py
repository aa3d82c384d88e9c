"""`Outline`: the shape of a study's DAG, small enough to be read each time Airflow parses the DAG files.

It depends on the study file and on nothing else: no host is contacted and no disk is probed. The module
imports only the standard library; planning is imported when an outline is made.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from density_study.cluster.model.plain import counted

if TYPE_CHECKING:
    from density_study.cluster.model.topology import AnyTopology
    from density_study.workloads.planning.plan import Plan, Step
    from density_study.workloads.study.study import Study

NAMED_TRIALS = 200
"""A study with more trials maps them: one task per build. The scheduler evaluates every task of a graph."""


@dataclass(frozen=True)
class TrialOutline:
    """`trial`: its id. `limit_s`: longer than its own timeouts. `parameters`: those of its test case, for
    people; empty if the study maps its trials."""

    trial: str
    label: str
    estimate_s: float
    limit_s: float
    parameters: dict[str, str]


@dataclass(frozen=True)
class BuildOutline:
    """`beside`: the other build of a duet, up at the same time; empty: none."""

    build: str
    label: str
    trials: tuple[TrialOutline, ...]
    beside: str = ""


@dataclass(frozen=True)
class Outline:
    """`queue`: that of its tasks, if any. `cron` and `asset`: the schedule, if any. `compared`: each run is
    compared with earlier ones. `reports_late_runs`: a receiver of messages wants to know.
    `slowest`: how many times as long as estimated a build may take. `estimate_s`: that of the whole run.
    `is_mapped`: its builds map their trials."""

    study: str
    question: str
    provider: str
    workloads: tuple[str, ...]
    queue: str | None
    cron: str | None
    asset: str | None
    compared: bool
    reports_late_runs: bool
    estimate_s: float
    up_estimate_s: float
    slowest: float
    builds: tuple[BuildOutline, ...]

    @property
    def trials(self) -> int:
        return sum(len(build.trials) for build in self.builds)

    @property
    def is_mapped(self) -> bool:
        return self.trials > NAMED_TRIALS

    @property
    def steps(self) -> str:
        """Digest of builds and trials in their order: see `steps_of`."""
        return _digest([[b.build, [t.trial for t in b.trials]] for b in self.builds])

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Outline:
        value: dict[str, Any] = json.loads(text)
        builds = tuple(
            BuildOutline(**{**build, "trials": tuple(TrialOutline(**t) for t in build["trials"])})
            for build in value["builds"]
        )
        return cls(**{**value, "workloads": tuple(value["workloads"]), "builds": builds})


def outline_of(study: Study, plan: Plan) -> Outline:
    """The outline of a study with this plan."""
    schedule = study.schedule
    return Outline(
        study=study.study,
        question=study.question or "",
        provider=study.provider,
        workloads=tuple(sorted({s.test_case.workload for s in plan.trials if s.test_case})),
        queue=study.queue,
        cron=schedule.cron if schedule else None,
        asset=schedule.asset if schedule else None,
        compared=study.compare is not None,
        reports_late_runs=study.reports_late_runs,
        estimate_s=min(plan.estimate_s, study.budget or inf),
        up_estimate_s=max(step.estimate_s for step in plan.steps if step.kind == "up"),
        slowest=max(one.provider.slowest for one in plan.topologies.values()),
        builds=tuple(_build(plan, build) for build in plan.builds),
    )


def steps_of(plan: Plan) -> str:
    """Digest of the plan's builds and trials: equal to `Outline.steps` if a DAG fits the plan."""
    trials: dict[str, list[str | None]] = {build: [] for build in plan.builds}
    for step in plan.trials:
        trials[step.build].append(step.trial)
    return _digest([[build, mine] for build, mine in trials.items()])


def _build(plan: Plan, build: str) -> BuildOutline:
    topology = plan.topology_of(build)
    mine = [step for step in plan.trials if step.build == build]
    repetition = build.partition("-")[0].removeprefix("b")
    parts = (f"repetition {repetition}{_density(topology)}", *topology.levels.values())
    named = len(plan.trials) <= NAMED_TRIALS
    trials = tuple(_trial(step, topology, named) for step in mine)
    beside = next((step.beside for step in mine if step.beside), "")
    return BuildOutline(build, ", ".join(parts), trials, beside)


def _density(topology: AnyTopology) -> str:
    """Nobody knows that of an existing cluster."""
    from density_study.cluster.model.topology import Topology

    if not isinstance(topology, Topology):
        return ""
    variant, noun = topology.variant, topology.isolation.facts.noun
    servers = f", {variant.regionservers_per_node} RegionServers per node"
    more = servers if variant.regionservers_per_node > 1 else ""
    return f": {counted(variant.vms_per_host, noun)} per host on {variant.disk_type}{more}"


def _trial(step: Step, topology: AnyTopology, named: bool) -> TrialOutline:
    from density_study.workloads.base.test_case import LIMIT_IN_ESTIMATES

    assert step.test_case is not None
    values = step.test_case.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    parameters = {key: str(value) for key, value in values.items()} if named else {}
    limit_s = max(step.test_case.limit_on(topology), LIMIT_IN_ESTIMATES * step.estimate_s)
    limit_s *= 2 if step.beside else 1
    return TrialOutline(
        str(step.trial),
        step.test_case.label,
        round(step.estimate_s, 1),
        round(limit_s, 1),
        parameters,
    )


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
