"""Resolves the study's hosts: replaces every `auto` by what the machine has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from density_study.cluster.machine.disk_type import Probe
from density_study.cluster.model.errors import InputError, each_of
from density_study.cluster.model.host import Disk, DiskType, Host, Login
from density_study.cluster.providers.libvirt.programs import check_guest_programs
from density_study.cluster.providers.ssh.examined import Examined, over_ssh, this_machine
from density_study.cluster.providers.ssh.options import write_known_hosts
from density_study.cluster.render.names import check_path
from density_study.cluster.state.settings import expanded
from density_study.workloads.study.hosts_spec import DiskSpec, HostSpec, SshSpec
from density_study.workloads.study.providers.libvirt_hosts import needs_ssh
from density_study.workloads.study.providers.registry import nodes_of, rules_of
from density_study.workloads.study.providers.rules import known_hosts_of
from density_study.workloads.study.study import Study

AUTO_MEMORY_SHARE = 0.5
PROBES = 4
"""For a disk that does not show its disk type at once; each takes about a second."""
ASSUMED_CORES = 64
ASSUMED_MEMORY_MIB = 2**20


def resolve_hosts(study: Study, runs: Path) -> tuple[Host, ...]:
    """Hosts with cores, memory and verified disk types. InputError if a disk's type differs from the
    study's.

    Remote hosts are examined over SSH, and probe their own disks. Hosts of provider libvirt are taken as
    declared: they are not contacted before something is built on them.
    """
    rules = rules_of(study.provider)
    if rules.declares_hosts:
        return rules.declared_hosts(study, runs)
    if study.ssh is None or not _remote(study):
        return _hosts(study, _this_machine(study, runs, probed=True))
    return _over_ssh(study, study.ssh, runs, pin_host_keys(study, runs), probed=True)


def planned_hosts(study: Study, runs: Path) -> tuple[Host, ...]:
    """The hosts of `resolve_hosts` for a plan: disk types are as declared, because a probe would write to the
    disk.

    `assumed_disk_type` replaces `auto`. Other hosts are contacted only for cores or memory that are `auto`.
    Nothing is written on any host; known_hosts, which ssh must read, is in a temporary folder meanwhile.
    """
    rules = rules_of(study.provider)
    if rules.declares_hosts:
        return rules.declared_hosts(study, runs)
    if study.ssh is None or not _remote(study):
        return _hosts(study, _this_machine(study, runs, probed=False))
    if not unknown_hosts(study):
        here = _this_machine(study, runs, probed=False) if study.existing else {}
        login = study.ssh.login(study.ssh.known_hosts)
        data = Path(login.target("", "").work / "data")
        return _hosts(study, {**here, **_as_declared(_remote(study), data, login)})
    with TemporaryDirectory(prefix="density-study-") as folder:
        known_hosts = write_keys(study, Path(folder) / "known_hosts")
        return _over_ssh(study, study.ssh, runs, known_hosts, probed=False)


def _over_ssh(
    study: Study, ssh: SshSpec, runs: Path, known_hosts: Path, *, probed: bool
) -> tuple[Host, ...]:
    """For an existing cluster, the client is this machine."""
    here = _this_machine(study, runs, probed=False) if study.existing else {}
    addresses = {host.name: host.address for host in _remote(study)}
    login = ssh.login(str(known_hosts))
    found = over_ssh(login, addresses, watched=bool(study.existing), probed=probed)
    return _hosts(study, {**here, **found})


def unknown_hosts(study: Study) -> tuple[str, ...]:
    """Names of the hosts that only SSH can tell the cores or the memory of, where a plan depends on them: not
    on those of an existing cluster, which are only watched."""
    if rules_of(study.provider).declares_hosts or study.ssh is None or study.existing:
        return ()
    return tuple(host.name for host in _remote(study) if "auto" in (host.cores, host.memory))


def assumed_hosts(study: Study) -> tuple[Host, ...]:
    """Hosts as only the study describes them, for the shape of its plan: no machine is looked at. What is
    `auto` is assumed to be large enough, and its disk type as in `planned_hosts`."""
    rules = rules_of(study.provider)
    if rules.declares_hosts:
        return rules.declared_hosts(study, Path("/"))
    return _hosts(study, _as_declared(study.hosts, Path("/auto")))


def _as_declared(
    hosts: Sequence[HostSpec], auto_disk: Path, login: Login | None = None
) -> dict[str, Examined]:
    return {
        host.name: Examined(
            cores=ASSUMED_CORES if host.cores == "auto" else host.cores,
            memory_mib=ASSUMED_MEMORY_MIB if host.memory == "auto" else host.memory,
            auto_disk=auto_disk,
            check_disk=lambda _: None,
            probe=None,
            login=login,
        )
        for host in hosts
    }


def assumed_disk_type(study: Study, host: HostSpec, disk: DiskSpec) -> DiskType:
    """The disk type that a plan assumes for an `auto` disk: in turn, each compared disk type that no disk of
    the host declares; flash if the study compares none."""
    compared: tuple[DiskType, ...] = study.factors.disk_type or ("flash",)
    declared = {each.disk_type for each in host.disks}
    missing = [disk_type for disk_type in compared if disk_type not in declared] or compared
    unknown = [each.path for each in host.disks if each.disk_type == "auto"]
    return missing[unknown.index(disk.path) % len(missing)]


def assumptions(study: Study, hosts: Sequence[Host]) -> Iterator[str]:
    """The assumptions of a plan on `planned_hosts`, one line per disk."""
    if study.ssh is not None and not unknown_hosts(study) and _remote(study):
        yield (
            "no host was contacted: all are taken as the study declares them; `study doctor` compares them "
            "with what they are"
        )
    for spec, host in zip(study.hosts, hosts, strict=True):
        for declared, disk in zip(spec.disks, host.disks, strict=True):
            if declared.disk_type == "auto":
                yield (
                    f"host {host.name}, disk {disk.path}: disk type auto is assumed to be {disk.disk_type}; "
                    "a plan writes nothing, and `study run` probes the disk before it starts anything"
                )


def _this_machine(study: Study, runs: Path, *, probed: bool) -> dict[str, Examined]:
    machine = this_machine(runs.absolute(), probed=probed)
    return dict.fromkeys((host.name for host in study.hosts), machine)


def check_declared_hosts(study: Study, runs: Path) -> None:
    """InputError with every program that is missing on the hosts, and on this machine, of a study whose plan
    contacts no host."""
    if not rules_of(study.provider).declares_hosts:
        return
    targets = {}
    if needs_ssh(study) and study.ssh is not None:
        login = study.ssh.login(str(pin_host_keys(study, runs)))
        targets = {host.name: login.target(host.name, host.address) for host in _remote(study)}
    uris = {host.name: host.libvirt or "" for host in study.hosts}
    check_guest_programs(uris, targets, bare=0 in study.factors.vms_per_host)


def _remote(study: Study) -> tuple[HostSpec, ...]:
    """The hosts that SSH reaches: all but the client of an existing cluster, which comes last."""
    if study.existing:
        return study.hosts[:-1]
    return () if nodes_of(study).here else study.hosts


def pin_host_keys(study: Study, runs: Path) -> Path:
    """Write the study's own known_hosts with the keys of its hosts. InputError if a key is unknown."""
    return write_keys(study, known_hosts_of(study, runs))


def write_keys(study: Study, to: Path) -> Path:
    assert study.ssh is not None
    write_known_hosts(
        expanded(study.ssh.known_hosts, "ssh.known_hosts").absolute(),
        study.ssh.servers(_remote(study)),
        to,
    )
    return to


def _hosts(study: Study, machines: Mapping[str, Examined]) -> tuple[Host, ...]:
    parts = rules_of(study.provider).parts(study)

    def resolved(index: int, spec: HostSpec) -> Host:
        machine, key = machines[spec.name], ("hosts", index, "disks")
        cores = _cores(spec, index, machine.cores)
        memory_mib = _memory_mib(spec, index, machine.memory_mib)
        disks = [_disk(study, spec, disk, (*key, n), machine) for n, disk in enumerate(spec.disks)]
        host = spec.host(cores, memory_mib, disks, machine.login)
        return replace(host, containers=parts[index])

    with ThreadPoolExecutor(max(1, len(study.hosts))) as pool:  # a probe of a drive takes a second
        begun = [pool.submit(resolved, index, spec) for index, spec in enumerate(study.hosts)]
    return tuple(each_of(begun, Future.result))


def _cores(spec: HostSpec, index: int, usable: int) -> int:
    if spec.cores in ("auto", usable):
        return usable
    raise InputError(
        f"the study declares cores: {spec.cores}; the machine has {usable}, and daemons cannot be "
        "restricted to fewer.",
        f"host {spec.name!r}",
        f"write cores: auto, or cores: {usable}.",
        ("hosts", index, "cores"),
    )


def _memory_mib(spec: HostSpec, index: int, total_mib: int) -> int:
    if spec.memory == "auto":
        return int(total_mib * AUTO_MEMORY_SHARE)
    if spec.memory > total_mib:
        raise InputError(
            f"the study requests {spec.memory} MiB of memory; the machine has {total_mib} MiB.",
            f"host {spec.name!r}",
            f"write memory: {total_mib} MiB or less, or memory: auto for half of it.",
            ("hosts", index, "memory"),
        )
    return spec.memory


def _disk(
    study: Study, host: HostSpec, spec: DiskSpec, key: tuple[str | int, ...], machine: Examined
) -> Disk:
    folder = machine.auto_disk if spec.path == "auto" else Path(spec.path)
    if spec.path != "auto":
        try:
            check_path(folder, "path of a disk")
            machine.check_disk(folder)
        except InputError as error:
            where = f"host {host.name!r}, {error.where}"
            raise InputError(error.what, where, error.remedy, (*key, "path")) from error
    disk_type = spec.disk_type
    # with limits, the disk's own type does not matter as long as it is faster than them: see emulation
    if machine.probe is not None and spec.limits is None:
        measured = _fastest_probe(spec, folder, machine.probe)
        where = f"host {host.name!r}, disk {folder}"
        disk_type = _verified_disk_type(spec, measured, where, key)
    elif disk_type == "auto":
        disk_type = assumed_disk_type(study, host, spec)
    return spec.disk(str(folder), disk_type)


def _fastest_probe(spec: DiskSpec, folder: Path, probe: Callable[[Path], Probe]) -> Probe:
    """One probe if it shows flash or the declared disk type, else the fastest of several: other work on a
    disk makes its reads slower, and never faster."""
    measured = probe(folder)
    for _ in range(PROBES - 1):
        if measured.disk_type in ("flash", spec.disk_type):
            break
        measured = min(measured, probe(folder), key=lambda one: one.random_4k_read_ms)
    return measured


def _verified_disk_type(
    spec: DiskSpec, measured: Probe, where: str, key: tuple[str | int, ...]
) -> DiskType:
    """The disk's type, if it behaves as declared. InputError with the measurement otherwise."""
    took = f"a random 4 KiB read took {measured.random_4k_read_ms:.2f} ms"
    if spec.disk_type in ("auto", measured.disk_type) and measured.disk_type is not None:
        return measured.disk_type
    if spec.disk_type == "auto":
        raise InputError(
            f"{took}, which is typical of neither flash nor hdd.",
            where,
            "write disk_type: flash or disk_type: hdd for this disk, or try again when the disk is idle.",
            (*key, "disk_type"),
        )
    if measured.disk_type is None:
        return spec.disk_type
    raise InputError(
        f"the study declares {spec.disk_type}, but {took}, which is typical of {measured.disk_type}.",
        where,
        f"write disk_type: {measured.disk_type} or auto, or name a disk that is {spec.disk_type}.",
        (*key, "disk_type"),
    )
