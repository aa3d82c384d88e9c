"""`Plan`: the ordered, seeded list of steps of a run. Pure: equal study, hosts and seed give an equal
plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase as fnmatch
from itertools import accumulate, count, product
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from density_study.cluster.model.dividing.halves import halved, with_own_ports
from density_study.cluster.model.dividing.pointers import on_one_side
from density_study.cluster.model.dividing.sizing import Sizing, sizing_of
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Host
from density_study.cluster.model.placement import Layout, place
from density_study.cluster.model.store import default_store
from density_study.cluster.model.topology import AnyTopology, Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.old_names import present
from density_study.cluster.providers.existing.placing import existing_topology
from density_study.cluster.state.atomic import write_text
from density_study.cluster.state.own_runs import MAX_PLAN_BYTES
from density_study.cluster.state.plain_file import read_plain, why_unread
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import Frozen
from density_study.workloads.monitors import MONITORS
from density_study.workloads.planning.left_out import built, check_globs, is_left_out
from density_study.workloads.planning.trial_estimates import Estimates
from density_study.workloads.planning.trial_order import (
    PlannedTrial,
    overhead_trials,
    random_order,
    trials_of,
)
from density_study.workloads.study.existing_spec import existing_clusters
from density_study.workloads.study.keys import MonitorSpec
from density_study.workloads.study.providers.registry import densities, nodes_of
from density_study.workloads.study.registry import AnyTestCase
from density_study.workloads.study.repetitions import LEAST_PRECISE, Repetitions
from density_study.workloads.study.study import Study

FORMAT: Literal[1] = 1
ANEW = "start a new run: `study run SPEC --fresh`, or `fresh` in Airflow"
StepKind = Literal["up", "trial", "down"]
MAX_TRIALS = 10_000  # maximum of a run: more than a week, at one or two minutes per trial
UP_ESTIMATE_S = 17.0  # measured: 15 s with one worker on two idle cores, 16 s with two
STORE_UP_ESTIMATE_S = 10.0  # without Hadoop
BOOT_ESTIMATE_S = 40.0  # of guests, before their daemons
DOWN_ESTIMATE_S = 3.0


class Step(Frozen):
    """One step of a run: build a topology, run a trial on it, or tear it down."""

    index: int
    kind: StepKind
    repetition: int
    build: str
    label: str
    trial: str | None = None
    order: int | None = Field(None, description="position among the trials of the run, from 0")
    test_case: AnyTestCase | None = None
    estimate_s: float = Field(ge=0, le=1e9, allow_inf_nan=False)
    overhead_pair: int | None = Field(
        None, description="number of the monitoring-overhead pair; null: a regular trial"
    )
    monitored: bool = Field(True, description="whether the monitors run during the trial")
    overhead_of: str | None = Field(
        None, description="telemetry device that the overhead pair is about; null: all monitors"
    )
    devices: tuple[str, ...] | None = Field(
        None, description="telemetry devices that run; null: those of the study"
    )
    beside: str | None = Field(
        None, description="the other build of a duet, up at the same time; null: none"
    )
    probe: int | None = Field(
        None,
        description="number of a search's probe, from 1; null: no search. The last ones may not run",
    )


class Extension(Frozen):
    """Additional work for a finished run: whole repetitions of some or all test cases."""

    add_repetitions: int = Field(1, ge=1)
    only: tuple[str, ...] = Field((), description="globs of test case ids; empty: every test case")


class Plan(Frozen):
    """plan.json. `builds` maps each build to the name of its topology."""

    format: Literal[1] = FORMAT
    study: str
    seed: int
    repetitions: int
    topologies: dict[str, AnyTopology]
    builds: dict[str, str]
    steps: tuple[Step, ...]
    only: tuple[str, ...] = Field(
        (), description="globs of test case ids that the run started with"
    )
    extensions: tuple[Extension, ...] = ()
    precise: Repetitions | None = Field(
        None,
        description="bounds of the repetitions; null: they are fixed. The last ones may not run",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Plan:
        """For a plan that is read: whatever a step needs is in the plan."""
        if not set(self.builds.values()) <= set(self.topologies):
            raise ValueError("a build has no topology")
        for index, step in enumerate(self.steps):
            if step.index != index or not {step.build, step.beside or step.build} <= set(
                self.builds
            ):
                raise ValueError(f"step {index} is out of order, or has no build")
        return self

    @property
    def builds_at_once(self) -> int:
        return 2 if any(step.beside for step in self.steps) else 1

    @property
    def least_repetitions(self) -> int:
        """Repetitions that run in any case."""
        return self.precise.at_least if self.precise else self.repetitions

    @property
    def built(self) -> tuple[Topology, ...]:
        """The topologies that the study builds itself."""
        return tuple(one for one in self.topologies.values() if isinstance(one, Topology))

    def topology_of(self, build: str) -> AnyTopology:
        return self.topologies[self.builds[build]]

    def measuring_for(self, test_case: TestCase, build: str) -> tuple[str, ...]:
        """The trials of the build whose rate `test_case` targets a share of."""
        return tuple(
            str(step.trial)
            for step in self.trials
            if step.build == build and step.test_case and step.test_case.measures_for(test_case)
        )

    def partner(self, step: Step) -> Step | None:
        """The trial that is measured at the same time, of a duet; None: no such trial."""
        if step.beside is None or step.kind != "trial":
            return None
        near = (self.steps[step.index - 1], self.steps[step.index + 1])  # they follow each other
        same = (step.beside, step.test_case and step.test_case.id)
        return next(one for one in near if (one.build, one.test_case and one.test_case.id) == same)

    def probes(self, build: str, test_case_id: str) -> tuple[Step, ...]:
        """The steps of one search, in their order."""
        return tuple(
            step
            for step in self.trials
            if step.build == build
            and step.probe
            and step.test_case
            and step.test_case.id == test_case_id
        )

    @property
    def trials(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind == "trial")

    def cell(self, step: Step) -> tuple[str, str] | None:
        """Test case and topology of a trial; None for other steps."""
        return (step.test_case.id, self.builds[step.build]) if step.test_case else None

    @property
    def cells(self) -> frozenset[tuple[str, str]]:
        """Test case and topology of every trial."""
        return frozenset(filter(None, map(self.cell, self.steps)))

    @property
    def planned(self) -> int:
        """The last repetition that is planned, without those that a budget keeps in reserve."""
        bounds = self.precise
        return bounds.planned if bounds and bounds.planned else self.repetitions

    @property
    def pilot(self) -> int:
        """After this repetition the run measures its noise: before the first look, or halfway; five are
        enough."""
        if self.precise is not None:
            return self.precise.at_least
        return max(2, min(LEAST_PRECISE, (self.repetitions + 1) // 2))

    def after(self, repetition: int) -> tuple[str, ...]:
        """The trials of later repetitions."""
        return tuple(str(step.trial) for step in self.trials if step.repetition > repetition)

    def paid_by(self, budget_s: float, pace: float = 1.0, since: int = 0) -> int:
        """The last repetition that ends within this time from the end of repetition `since`, if none of their
        trials is spared. pace: real over estimated seconds."""
        each_s = [0.0] * (self.repetitions + 1)
        for step in self.steps:
            each_s[step.repetition] += pace * step.estimate_s
        spent_s = list(accumulate(each_s[since + 1 :]))
        return since + sum(seconds <= budget_s for seconds in spent_s)

    def replanned(self, last: int | None) -> Plan:
        """The plan with `last` as its last planned repetition; None: the same plan."""
        if last is None or self.precise is None:
            return self
        precise = self.precise.model_copy(update={"planned": last})
        return self.model_copy(update={"precise": precise})

    @property
    def estimate_s(self) -> float:
        return sum(step.estimate_s for step in self.steps)


def make_plan(
    study: Study, hosts: Sequence[Host], only: Sequence[str] = (), sizing: Sizing | None = None
) -> Plan:
    """The plan of `study` on resolved `hosts` (no `auto` left) for the test cases that match `only`. sizing:
    that of its daemons; None: by the memory of the hosts.

    InputError if a density does not fit, no test case matches, or a topology cannot run a test case.
    """
    test_cases = chosen(study.test_cases(), only)
    every = _topologies(study, hosts, sizing)
    check_globs(every, study.test_cases(), study.leave_out)
    topologies = built(every, test_cases, study.leave_out)
    _check_topologies(test_cases, topologies, study.leave_out)
    for test_case in test_cases:
        obstacles = [test_case.obstacle(topology) for topology in topologies]
        if obstacles and all(obstacles) and obstacles[0]:  # some topologies may lack what it needs
            raise obstacles[0]
    empty = Plan(
        study=study.study,
        seed=study.seed,
        repetitions=0,
        topologies={topology.name: topology for topology in topologies},
        builds={},
        steps=(),
        only=tuple(only),
        precise=None if study.repetitions.is_fixed else study.repetitions,
    )
    # pairs belong to repetitions that run in any case
    first = _with_repetitions(empty, study.repetitions.at_least, test_cases, study, study.monitor)
    return _with_repetitions(
        first, study.repetitions.at_most - first.repetitions, test_cases, study
    )


def extended(plan: Plan, study: Study, extension: Extension) -> Plan:
    """`plan` with more repetitions after its last one. The existing steps do not change.

    The seed and a repetition's number determine its order: repetitions added later equal those that the study
    would have had from the start. InputError if no test case matches, or if questions end by themselves.
    """
    if plan.precise is not None and plan.precise.until is None:
        raise InputError(
            "how often this run looks at its questions was fixed before the data, so no look can be added.",
            f"study {plan.study!r}, key repetitions",
            f"choose a larger at_most, and {ANEW}.",
        )
    test_cases = chosen(study.test_cases(), extension.only)
    _check_topologies(test_cases, tuple(plan.topologies.values()), study.leave_out)
    more = _with_repetitions(plan, extension.add_repetitions, test_cases, study)
    return more.model_copy(update={"extensions": (*plan.extensions, extension)})


def chosen(test_cases: Sequence[TestCase], only: Sequence[str]) -> tuple[TestCase, ...]:
    """The test cases with an id that matches one of the globs; all test cases if there is no glob."""
    unmatched = [glob for glob in only if not any(fnmatch(s.id, glob) for s in test_cases)]
    if unmatched:
        raise InputError(
            f"no test case of the study matches {unmatched[0]!r}.",
            "--only",
            f"use one of {', '.join(test_case.id for test_case in test_cases)}; * matches any text.",
        )
    return tuple(s for s in test_cases if not only or any(fnmatch(s.id, glob) for glob in only))


def _check_topologies(
    test_cases: Sequence[TestCase], topologies: Sequence[AnyTopology], leave_out: Sequence[str]
) -> None:
    for topology in topologies:
        for test_case in test_cases:
            if not is_left_out(test_case, topology, leave_out):
                test_case.on(topology).check_topology(topology)


def _with_repetitions(
    plan: Plan,
    repetitions: int,
    test_cases: Sequence[TestCase],
    study: Study,
    overhead: MonitorSpec | None = None,
) -> Plan:
    pairs = overhead.overhead_trials if overhead else 0
    devices = [one for one in (overhead.also if overhead else ()) if one not in MONITORS]
    count = repetitions * len(plan.topologies) * len(list(trials_of(test_cases)))
    count += 2 * pairs * (1 + len(devices)) + len(plan.trials)
    if count > MAX_TRIALS:
        raise InputError(
            f"the plan has {count:,} trials; the maximum is {MAX_TRIALS:,}.",
            f"{len(test_cases)} test cases on {len(plan.topologies)} topologies",
            "reduce the repetitions or the test cases.",
            ("repetitions",),
        )
    steps, builds = list(plan.steps), dict(plan.builds)
    copied = set[str]()
    for repetition in range(plan.repetitions + 1, plan.repetitions + repetitions + 1):
        # a generator per repetition: one added later has the order that it would have had from the start
        rng = Random(f"{plan.seed}/{repetition}")
        # a randomised block: every topology once, so that drift over hours favours none (method 1)
        block = []
        for name in rng.sample(list(plan.topologies), len(plan.topologies)):
            build = f"b{repetition}-{name}"
            all_builds = repetitions * len(plan.topologies)
            topology = plan.topologies[name]
            possible = tuple(
                test_case.on(topology)
                for test_case in test_cases
                if not test_case.obstacle(topology)
                and not is_left_out(test_case, topology, study.leave_out)
            )
            paired = overhead_trials(len(builds), all_builds, pairs, possible, plan.seed, devices)
            builds[build] = name
            regular = trials_of(random_order(possible, rng))
            trials = sorted((*regular, *paired), key=lambda trial: trial.test_case.breaks_cluster)
            block.append(_Build(build, topology, trials))
        if study.duet is not None:
            _check_pair(block)
        for standing in [block] if study.duet else [[one] for one in block]:
            _append_builds(steps, repetition, standing, copied)
    return plan.model_copy(
        update={
            "repetitions": plan.repetitions + repetitions,
            "builds": builds,
            "steps": tuple(steps),
        }
    )


def _topologies(
    study: Study, hosts: Sequence[Host], sizing: Sizing | None
) -> tuple[AnyTopology, ...]:
    if study.existing is not None:
        *watched, client = hosts
        given = existing_clusters(study.existing, study.factors.cluster, watched)
        store = study.store.store
        return tuple(
            existing_topology(one, client, order, store) for order, one in enumerate(given)
        )
    disk_types = tuple(dict.fromkeys(disk.disk_type for host in hosts for disk in host.disks))
    # nobody asked for the control variant: it is one of stores with RegionServers
    is_asked = "regionservers_per_node" in study.factors.model_fields_set
    store = study.store.store
    # the durability of the study's own store is also in the topologies' names
    levels = {} if store == default_store() else {"store": store.level}
    if study.duet is not None:
        hosts = halved(hosts)
    is_new = sizing is None
    sizing = sizing or study.stack.yarn.over(sizing_of(hosts))
    variants = [
        variant
        for vms, servers in densities(study)
        for disk_type in study.factors.disk_type or disk_types
        for variant in study.factors.variants(
            Variant(
                vms,
                servers,
                disk_type,
                study.stack.versions,
                levels=levels,
                store=store,
                sizing=sizing,
            )
        )
        if "regionservers_per_node" in variant.store.offers or servers == 1 or is_asked
    ]
    layout = Layout(
        provider=nodes_of(study),
        replication=study.stack.replication,
        jit=study.stack.jit,
        base_port=study.stack.base_port,
        worker_stacks=tuple(
            dict.fromkeys(s for one in study.test_cases() for s in one.needs_stacks)
        ),
    )
    try:
        placed = place(hosts, variants, layout)
    except InputError as error:
        if study.duet is not None:
            error.remedy += " Each variant of a duet has half of a host's memory."
        raise
    if is_new:
        placed = on_one_side(placed)
    return placed if study.duet is None else with_own_ports(placed)


class _Build(NamedTuple):
    name: str
    topology: AnyTopology
    trials: Sequence[PlannedTrial]


def _check_pair(block: Sequence[_Build]) -> None:
    if len(block) != 2 or len({frozenset(trial.name for trial in one.trials) for one in block}) > 1:
        found = ", ".join(f"{one.topology.name} with {len(one.trials)}" for one in block)
        raise InputError(
            f"a duet has two variants with the same test cases, and here are {found}.",
            "duet",
            "name one type of disk in factors.disk_type, and leave out a test case of both variants.",
            ("duet",),
        )


def _append_builds(
    steps: list[Step], repetition: int, standing: Sequence[_Build], copied: set[str]
) -> None:
    """Append the steps of builds that are up at once, with equal trials in the order of the first."""

    def append(kind: StepKind, of: _Build, label: str, estimate_s: float, **trial: Any) -> None:
        beside = next((other.name for other in standing if other is not of), None)
        steps.append(
            Step(index=len(steps), kind=kind, repetition=repetition, build=of.name, beside=beside,
                 label=f"{kind} {label}", estimate_s=estimate_s, **trial)
        )  # fmt: skip

    for one in standing:
        boot_s = BOOT_ESTIMATE_S if one.topology.isolation.facts.own_kernel else 0.0
        is_hadoop = one.topology.store.hadoop
        append("up", one, one.name, boot_s + (UP_ESTIMATE_S if is_hadoop else STORE_UP_ESTIMATE_S))
    names = [trial.name for trial in standing[0].trials]
    order = count(sum(step.kind == "trial" for step in steps))
    estimates = [Estimates(one.topology, copied) for one in standing]
    by_name = [{trial.name: trial for trial in one.trials} for one in standing]
    for name, (one, estimate, trials) in product(
        names, zip(standing, estimates, by_name, strict=True)
    ):
        trial, place = trials[name], next(order)
        append(
            "trial",
            one,
            f"{one.name} {name}",
            estimate.of(trial),
            trial=f"{one.name}-{place:03d}-{name}",
            order=place,
            test_case=trial.test_case,
            overhead_pair=trial.pair,
            monitored=trial.monitored,
            overhead_of=trial.device,
            devices=trial.devices,
            probe=trial.probe,
        )
    for one in standing:
        append("down", one, one.name, DOWN_ESTIMATE_S)


def plan_text(plan: Plan) -> str:
    return plan.model_dump_json(indent=2) + "\n"


def write_plan(plan: Plan, path: Path) -> None:
    write_text(path, plan_text(plan))


def read_plan(path: Path) -> Plan:
    """The plan in `path`. StudyError if it is not a plan, or if its format is not this version's.
    FileNotFoundError if there is none."""
    try:
        value = json.loads(read_plain(path, MAX_PLAN_BYTES))
        found = value.get("format") if isinstance(value, dict) else None
        if found == FORMAT:
            return Plan.model_validate(present(value, Plan))
    except (ValueError, RecursionError) as error:
        raise StudyError(
            f"this is not a plan: {why_unread(error)}.",
            str(path),
            f"restore it from a backup, or {ANEW}.",
        ) from error
    raise StudyError(
        f"the plan has format {repr(found)[:40]}; this version reads format {FORMAT}.",
        str(path),
        f"use the version of the program that wrote it, or {ANEW}.",
    )
