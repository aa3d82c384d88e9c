"""What `study doctor` checks: all that `study run` would reject, and clocks and KVM. Starts nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from density_study.cluster.lifecycle.host_facts import facts_of
from density_study.cluster.machine.equality.judgement import (
    Facts,
    differing_facts,
    in_words,
    remarks,
    unknown_facts,
)
from density_study.cluster.model.errors import InputError, SeveralError, StudyError
from density_study.cluster.model.host import Host
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.providers.ssh.acting import UNASKED
from density_study.cluster.providers.ssh.channel import channel
from density_study.cluster.state import lease
from density_study.cluster.state.owner import Owner
from density_study.workloads.base.clock import read_clock
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.planned_study import check_new_runs, new_runs
from density_study.workloads.planning.preflight import Check, checks, tried
from density_study.workloads.planning.resolve import check_declared_hosts, resolve_hosts
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import StudyFile, read_study

_SETTINGS = "settings of hosts that change results"
MAX_CLOCK_PERIODS = 0.5
"""As in analysis/validity/rules.toml: a larger offset flags every monitored trial (method 18)."""


def examine(
    spec: Path, runs: Path, overrides: Mapping[str, object] | None = None
) -> Iterator[Check]:
    """Every check, as soon as it is done. InputError for a faulty study file, which names its line."""
    file = read_study(spec, overrides)
    runs = runs.absolute()
    study, plans = file.study, list[Plan]()
    yield from (Check("the study file", warning=one) for one in file.warnings)
    what = "hosts answer, disks are as declared"
    answered = tried(what, lambda: plans.append(_plan(file, runs)))
    several = answered.fault.faults if isinstance(answered.fault, SeveralError) else ()
    yield from [Check(what, fault) for fault in several] or [answered]
    if not plans:
        return  # everything else needs the hosts
    (plan,) = plans
    with new_runs(runs):  # an `auto` disk is that folder
        yield from _of_plan(study, plan, runs)


def _of_plan(study: Study, plan: Plan, runs: Path) -> Iterator[Check]:
    tag = f"{study.study}/doctor"
    yield tried(
        "this machine is free", lambda: lease.check_free(tag, Owner.of_process(os.getpid()))
    )
    for name, topology in plan.topologies.items():
        if topology.provider.leases_hosts:
            check = partial(provider_of(topology).check_leases, topology, tag)
            yield tried(f"hosts of {name} are free", check)
    yield from checks(study, plan, runs, tag)
    topologies = plan.topologies.values()
    watched = (host for one in topologies if one.existing for host in one.existing.watched)
    hosts = (host for topology in topologies for host in topology.hosts)
    for host in {host.name: host for host in (*hosts, *watched)}.values():
        if host.login is not None:
            yield tried(f"clock of {host.name}", partial(_check_clock, host, study))
    yield from setting_checks(topologies)
    named = {name: act for one in plan.built for name, act in provider_of(one).doctor_checks(one)}
    yield from (tried(name, act) for name, act in named.items())


def _plan(file: StudyFile, runs: Path) -> Plan:
    with file.placing_faults():
        check_new_runs(runs)
        check_declared_hosts(file.study, runs)
        return make_plan(file.study, resolve_hosts(file.study, runs))


def _check_clock(host: Host, study: Study) -> None:
    """InputError if the host's clock is off so far that samples would fall into the wrong trial second."""
    read = read_clock(lambda: float(channel(host.target).act("clock")))
    if abs(read.offset_s) > MAX_CLOCK_PERIODS * study.monitor.period:
        raise InputError(
            f"the clock is {read.offset_s:+.2f} s from this machine's (error at most "
            f"{read.error_s:.3f} s); trials would be flagged.",
            f"host {host.name!r}",
            "synchronise the clocks of the hosts with NTP, or use a longer `monitor.period`.",
        )


def setting_checks(topologies: Iterable[AnyTopology]) -> Iterator[Check]:
    """Warnings, with remedies: a study runs on such hosts all the same. A fault if a host does not answer."""
    try:
        found = facts_of(*topologies)
    except StudyError as fault:
        yield Check(_SETTINGS, fault)
        return
    yield from _judged(found)


def _judged(facts: Facts) -> Iterator[Check]:
    for one in remarks(facts):
        yield Check(
            f"{one.fact.name} of {in_words(one.hosts)}",
            warning=f"{one.value}: {one.fact.why}. As root: {one.remedy}",
        )
    if different := differing_facts(facts):
        yield Check("hosts are equal", warning="; ".join(different))
    silent = [host for host, values in facts.get("machine", {}).items() if not values]
    unknown = [*unknown_facts(facts), *(f"all of {host}, {UNASKED}" for host in silent)]
    yield Check(f"{_SETTINGS} (unknown: {', '.join(unknown)})" if unknown else _SETTINGS)
