"""`check_follows`: a run's plan is what its study gives, made anew; before a claimed run is resumed.

A study file cannot name a JVM flag, property or path that its models refuse. plan.json has them resolved, and
they are not checked again when they are carried out.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from density_study.cluster.model.dividing.sizing import Sizing, sizing_before
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host, Login
from density_study.cluster.render.names import check_path
from density_study.workloads.planning.plan import ANEW, Plan, extended, make_plan, plan_text
from density_study.workloads.study.hosts_spec import DiskSpec, HostSpec
from density_study.workloads.study.providers.registry import rules_of
from density_study.workloads.study.providers.rules import known_hosts_of
from density_study.workloads.study.study import Study


def check_follows(study: Study, plan: Plan, root: Path) -> None:
    """InputError if the plan of the run in `root` is not that of `study`, on hosts as the study declares."""
    try:
        hosts = _hosts(study, plan, root.absolute().parents[1])
        made = make_plan(study, hosts, plan.only, _sizing_before(plan))
        for extension in plan.extensions:
            made = extended(made, study, extension)
    except (InputError, ValueError) as error:
        raise _differs(root, str(error)) from error
    if _without_estimates(made) != _without_estimates(plan):
        raise _differs(root, "it has other steps or topologies")


def _sizing_before(plan: Plan) -> Sizing | None:
    """What a plan had that an earlier version recorded, without sizes; None: another plan."""
    before = {
        sizing_before(max(host.memory_mib for host in one.hosts)): one.variant.sizing
        for one in plan.built
    }
    alike = len(before) == 1 and all(key == own for key, own in before.items())
    return next(iter(before)) if alike else None


def _without_estimates(plan: Plan) -> str:
    """Estimates decide nothing, and other versions of the program have others."""
    steps = tuple(step.model_copy(update={"estimate_s": 0.0}) for step in plan.steps)
    return plan_text(plan.model_copy(update={"steps": steps}))


def _differs(root: Path, why: str) -> InputError:
    return InputError(
        f"its plan is not the plan of its study: {why.rstrip('.')}.",
        str(root / "plan.json"),
        f"{ANEW}.",
    )


def _hosts(study: Study, plan: Plan, runs: Path) -> tuple[Host, ...]:
    """What the study declares; where it says `auto`, what the plan found then."""
    rules = rules_of(study.provider)
    if rules.declares_hosts:
        return rules.declared_hosts(study, runs)
    found: dict[str, Host] = {}
    for topology in plan.topologies.values():
        watched = topology.existing.watched if topology.existing else ()
        found |= {host.name: host for host in (*topology.hosts, *watched)}
    parts = rules.parts(study)
    hosts = []
    for number, spec in enumerate(study.hosts):
        if spec.name not in found:
            raise ValueError(f"it lacks the host {spec.name!r}")
        there = found[spec.name]
        there = replace(there, memory_mib=plan.builds_at_once * there.memory_mib)
        host = _host(study, spec, there, runs)
        hosts.append(replace(host, containers=parts[number]))
    return tuple(hosts)


def _host(study: Study, spec: HostSpec, found: Host, runs: Path) -> Host:
    if len(found.disks) != len(spec.disks):
        raise ValueError(f"host {spec.name!r} has other disks")
    login = _login(study, found, runs)
    auto = runs if login is None else login.target(spec.name, spec.address).work / "data"
    disks = zip(spec.disks, found.disks, strict=True)
    return spec.host(
        _positive(found.cores) if spec.cores == "auto" else spec.cores,
        _positive(found.memory_mib) if spec.memory == "auto" else spec.memory,
        [_disk(disk, there, str(auto)) for disk, there in disks],
        login,
    )


def _login(study: Study, found: Host, runs: Path) -> Login | None:
    """The login with the Java that was found there. The client of an existing cluster, like provider `local`,
    has none."""
    if found.login is None or study.ssh is None:
        return None
    java = found.login.java_home
    if java:
        check_path(PurePosixPath(java), f"Java of host {found.name!r}")
    known_hosts = str(known_hosts_of(study, runs))
    return study.ssh.login(known_hosts, (java, found.login.java_version))


def _disk(spec: DiskSpec, found: Disk, auto: str) -> Disk:
    path = auto if spec.path == "auto" else str(Path(spec.path))
    return spec.disk(path, found.disk_type if spec.disk_type == "auto" else spec.disk_type)


def _positive(number: int) -> int:
    if number <= 0:
        raise ValueError(f"{number} is not an amount of cores or memory")
    return number
