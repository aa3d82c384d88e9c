"""`Examined`: what a host has, for a study that leaves it out. This machine is queried directly, others over
SSH, all at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from density_study.cluster.machine.disk_type import Probe, check_disk, probe
from density_study.cluster.model.errors import HostLostError, InputError, StudyError, each_of
from density_study.cluster.model.host import Login, Target
from density_study.cluster.providers.ssh.build import same_java
from density_study.cluster.providers.ssh.channel import channel, on_all
from density_study.cluster.providers.ssh.options import unread_settings
from density_study.cluster.providers.ssh.programs import (
    PHYSICAL,
    PYTHON,
    Requirements,
    check_programs,
)


@dataclass(frozen=True)
class Examined:
    """Properties of a host. `auto_disk` is the folder for disk path `auto`; `check_disk` rejects a missing
    folder; `probe` is None for a plan, which writes nothing."""

    cores: int
    memory_mib: int
    auto_disk: Path
    check_disk: Callable[[Path], None]
    probe: Callable[[Path], Probe] | None
    login: Login | None = None


def this_machine(auto_disk: Path, *, probed: bool) -> Examined:
    return Examined(
        cores=len(os.sched_getaffinity(0)),
        memory_mib=psutil.virtual_memory().total // 2**20,
        auto_disk=auto_disk,
        check_disk=check_disk,
        probe=probe if probed else None,
    )


def over_ssh(
    login: Login, addresses: Mapping[str, str], *, watched: bool, probed: bool
) -> Mapping[str, Examined]:
    """The hosts with these addresses, by name. `watched`: only monitors will run there, without Java.
    InputError if a login fails, a program is missing, or their Java versions differ."""
    targets = {name: login.target(name, address) for name, address in addresses.items()}
    needs = (PYTHON,) if watched else PHYSICAL
    check_programs([Requirements(name, target, needs) for name, target in targets.items()])
    _check_answers(targets, "" if probed else _UNASKED)
    home, version = ("", "") if watched else same_java(targets)
    login = replace(login, java_home=home, java_version=version)

    def examined(_: str, target: Target) -> Examined:
        def prober(folder: Path) -> Probe:
            return Probe(**channel(target).act("probe", str(folder)))

        found = channel(target).act("describe")
        return Examined(
            cores=found["cores"],
            memory_mib=found["memory_mib"],
            auto_disk=Path(target.work / "data"),
            check_disk=lambda folder: channel(target).act("check-disk", str(folder)),
            probe=prober if probed else None,
            login=login,
        )

    return on_all(targets, examined)


_UNASKED = " A study that declares the cores and the memory of all hosts is planned without them."


def _check_answers(targets: Mapping[str, Target], otherwise: str) -> None:
    """InputError for every host that does not answer, not only the first: nothing of ours runs there yet."""

    def answers(_: str, target: Target) -> StudyError | None:
        try:
            channel(target).act("clock")
        except HostLostError as error:
            through = f" -J {target.jump}" if target.jump else ""
            up = f"ssh{through} -p {target.port} {target.user}@{target.address}"
            unread = unread_settings(target.address)
            remedy = f"check that `{up}` works from here. Nothing was started.{unread}{otherwise}"
            return InputError(error.what, error.where, remedy)
        except StudyError as error:
            return error
        return None

    def fail(error: StudyError | None) -> None:
        if error is not None:
            raise error

    each_of(on_all(targets, answers).values(), fail)
