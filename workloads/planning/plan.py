"""`Plan`: the ordered, seeded list of steps of a run. Pure: same study, hosts and seed, same plan."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from fnmatch import fnmatchcase as fnmatch
from pathlib import Path
from random import Random
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cluster.model.errors import InputError, StudyError
from cluster.model.host import Host
from cluster.model.placement import Layout, place
from cluster.model.topology import Isolation, Topology
from cluster.state.atomic import write_text
from workloads.planning.order import random_order
from workloads.planning.overhead_pairs import Part, parts_of
from workloads.spec.libvirt_hosts import densities
from workloads.spec.settings import Setting, YcsbSetting
from workloads.spec.study import Study
from workloads.testdfsio.fit import require_fit
from workloads.ycsb.noisy_neighbour.placement import pair

FORMAT: Literal[1] = 1
MAX_TRIALS = 10_000
"""Of a run: a week and more, at a minute or two each."""
UP_ESTIMATE_S = 35.0
DOWN_ESTIMATE_S = 5.0
_ISOLATION: dict[str, Isolation] = {"local": "process", "physical": "host", "libvirt": "vm"}


class Step(BaseModel):
    """One thing the run does: build a topology, run a trial on it, take it down."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    index: int
    kind: Literal["up", "trial", "down"]
    repetition: int
    build: str
    label: str
    trial: str | None = None
    order: int | None = Field(None, description="position among the trials of the run, from 0")
    setting: Annotated[Setting, Field(discriminator="workload")] | None = None
    estimate_s: float
    overhead_pair: int | None = Field(
        None, description="number of the pair that measures the monitors' cost; None: the study's"
    )
    monitored: bool = Field(True, description="whether the monitors run during the trial")


class Extension(BaseModel):
    """What a finished run is asked for on top: whole repetitions, of some settings or of all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    add_repetitions: int = Field(1, ge=1)
    only: tuple[str, ...] = Field((), description="globs of setting ids; none: every setting")


class Plan(BaseModel):
    """plan.json. `builds` names the topology of each build."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = FORMAT
    study: str
    seed: int
    repetitions: int
    topologies: dict[str, Topology]
    builds: dict[str, str]
    steps: tuple[Step, ...]
    only: tuple[str, ...] = Field((), description="what the run was begun with: see `chosen`")
    extensions: tuple[Extension, ...] = ()

    def topology_of(self, build: str) -> Topology:
        return self.topologies[self.builds[build]]

    @property
    def trials(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.kind == "trial")

    @property
    def estimate_s(self) -> float:
        return sum(step.estimate_s for step in self.steps)


def make_plan(study: Study, hosts: Sequence[Host], only: Sequence[str] = ()) -> Plan:
    """The plan of `study` on resolved `hosts` (no `auto` left), of the settings that `only` chooses.

    InputError if a density does not fit, no setting is chosen, or a topology cannot do one.
    """
    topologies = _topologies(study, hosts)
    settings = chosen(study.settings(), only)
    for topology in topologies:
        require_fit(settings, topology)
    _require_neighbours(settings, topologies)
    empty = Plan(
        study=study.study,
        seed=study.seed,
        repetitions=0,
        topologies={topology.name: topology for topology in topologies},
        builds={},
        steps=(),
        only=tuple(only),
    )
    return _with_repetitions(empty, study.repetitions, settings, study.monitor.overhead_trials)


def extended(plan: Plan, study: Study, extension: Extension) -> Plan:
    """`plan` with more repetitions after its last one; what is planned already stays as it is.

    A repetition's order comes from the seed and its number: repetitions added later are those that the study
    would have had, if it had asked for them at first. InputError if no setting is chosen.
    """
    settings = chosen(study.settings(), extension.only)
    for topology in plan.topologies.values():
        require_fit(settings, topology)
    more = _with_repetitions(plan, extension.add_repetitions, settings)
    return more.model_copy(update={"extensions": (*plan.extensions, extension)})


def chosen(settings: Sequence[Setting], only: Sequence[str]) -> tuple[Setting, ...]:
    """The settings whose id one of the globs matches; all of them without a glob."""
    unmatched = [glob for glob in only if not any(fnmatch(s.id, glob) for s in settings)]
    if unmatched:
        raise InputError(
            f"no setting of the study is called {unmatched[0]!r}.",
            "--only",
            f"name one of: {', '.join(setting.id for setting in settings)}; * matches anything.",
        )
    return tuple(s for s in settings if not only or any(fnmatch(s.id, glob) for glob in only))


def _require_neighbours(settings: Sequence[Setting], topologies: Sequence[Topology]) -> None:
    for setting in settings:
        if not any(is_possible(setting, topology) for topology in topologies):
            raise InputError(
                f"{setting.id}: no topology has two workers on one host, so nobody has a neighbour.",
                "isolation",
                "add a density of 2 or more, or leave `isolation` out.",
                ("factors", "vms_per_host"),
            )


def is_possible(setting: Setting, topology: Topology) -> bool:
    """Whether the topology has what the setting needs: a victim needs a neighbour on its host."""
    return not (isinstance(setting, YcsbSetting) and setting.is_isolation) or bool(pair(topology))


def _with_repetitions(
    plan: Plan, repetitions: int, settings: Sequence[Setting], cost_pairs: int = 0
) -> Plan:
    trials = repetitions * len(plan.topologies) * len(settings) + 2 * cost_pairs + len(plan.trials)
    if trials > MAX_TRIALS:
        raise InputError(
            f"the plan has {trials:,} trials, at most {MAX_TRIALS:,}.",
            f"{len(settings)} settings on {len(plan.topologies)} topologies",
            "ask for fewer repetitions, or for fewer settings.",
            ("repetitions",),
        )
    steps, builds = list(plan.steps), dict(plan.builds)
    for repetition in range(plan.repetitions + 1, plan.repetitions + repetitions + 1):
        rng = Random(f"{plan.seed}/{repetition}")
        for name in rng.sample(list(plan.topologies), len(plan.topologies)):
            build = f"b{repetition}-{name}"
            all_builds = repetitions * len(plan.topologies)
            parts = parts_of(len(builds), all_builds, cost_pairs, settings, plan.seed)
            builds[build] = name
            possible = [s for s in settings if is_possible(s, plan.topologies[name])]
            _append_build(steps, repetition, build, (*random_order(tuple(possible), rng), *parts))
    return plan.model_copy(
        update={
            "repetitions": plan.repetitions + repetitions,
            "builds": builds,
            "steps": tuple(steps),
        }
    )


def _topologies(study: Study, hosts: Sequence[Host]) -> tuple[Topology, ...]:
    found = dict.fromkeys(disk.medium for host in hosts for disk in host.disks)
    layout = Layout(
        provider=study.provider,
        isolation=_ISOLATION[study.provider],
        replication=study.stack.replication,
        base_port=study.stack.base_port,
    )
    return place(hosts, densities(study), study.factors.medium or tuple(found), layout)


def _append_build(
    steps: list[Step], repetition: int, build: str, trials: Sequence[Setting | Part]
) -> None:
    def append(kind: Literal["up", "down"], label: str, estimate_s: float) -> None:
        steps.append(
            Step(index=len(steps), kind=kind, repetition=repetition, build=build, label=label,
                 estimate_s=estimate_s)
        )  # fmt: skip

    append("up", f"up {build}", UP_ESTIMATE_S)
    warmed: set[Hashable] = set()
    before = sum(step.kind == "trial" for step in steps)
    for order, wanted in enumerate(trials, start=before):
        part = wanted if isinstance(wanted, Part) else None
        setting = wanted.setting if isinstance(wanted, Part) else wanted
        name = setting.id + (part.suffix if part else "")
        steps.append(
            Step(
                index=len(steps),
                kind="trial",
                repetition=repetition,
                build=build,
                label=f"trial {build} {name}",
                trial=f"{build}-{order:03d}-{name}",
                order=order,
                setting=setting,
                estimate_s=setting.estimate_s + _warm_up_s(setting, warmed),
                overhead_pair=part.pair if part else None,
                monitored=part.monitored if part else True,
            )
        )
    append("down", f"down {build}", DOWN_ESTIMATE_S)


def _warm_up_s(setting: Setting, warmed: set[Hashable]) -> float:
    """Of the daemons, before the setting's trial; `warmed` is what they were warmed up for already."""
    if not isinstance(setting, YcsbSetting) or setting.warmed in warmed:
        return 0.0
    warmed.add(setting.warmed)
    return setting.warm_up_estimate_s


def write_plan(plan: Plan, path: Path) -> None:
    write_text(path, plan.model_dump_json(indent=2) + "\n")


def read_plan(path: Path) -> Plan:
    """The plan in `path`. StudyError if its format is not this version's."""
    value = json.loads(path.read_text(encoding="utf-8"))
    if value.get("format") != FORMAT:
        raise StudyError(
            f"plan has format {value.get('format')!r}; this version reads {FORMAT}.",
            str(path),
            "use the version of the program that wrote it, or start anew with --fresh.",
        )
    return Plan.model_validate(value)
