"""Programs that provider libvirt needs, on a host and on the machine that controls the study."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.model.host import LIBVIRT_HERE, Target
from density_study.cluster.providers.ssh.programs import HERE as THIS_MACHINE
from density_study.cluster.providers.ssh.programs import (
    PHYSICAL,
    PYTHON,
    Need,
    Requirements,
    check_programs,
)

_ON_HOST = (
    Need(
        "libvirtd",
        "libvirt-daemon-system libvirt-daemon-driver-qemu",
        "command -v libvirtd || command -v virtqemud",
    ),
    Need("qemu-system-x86_64", "qemu-system-x86"),
    Need("qemu-img", "qemu-utils"),
)
_HERE = {
    "virsh": "libvirt-clients",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "unshare": "util-linux",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
}
CONTROLLER = Requirements(THIS_MACHINE, None, tuple(Need(*pair) for pair in _HERE.items()))


def check_guest_programs(
    uris: Mapping[str, str], targets: Mapping[str, Target], *, bare: bool
) -> None:
    """InputError with every program that hosts of guests and this machine lack. `uris`: those of each host's
    libvirt; `targets`: those of the hosts that SSH reaches; `bare`: they also carry nodes themselves."""
    hosts = [
        Requirements(
            name, targets.get(name), (*on_host(bool(targets)), *(PHYSICAL if bare else ()))
        )
        for name, uri in uris.items()
        if targets or uri.startswith(LIBVIRT_HERE)
    ]
    check_programs([CONTROLLER, *hosts])


def on_host(signed_on: bool) -> tuple[Need, ...]:
    """For a host of guests. Monitors run on it by Python where it is reached over SSH."""
    return (*_ON_HOST, PYTHON) if signed_on else _ON_HOST
