"""Programs that provider libvirt needs, on a host and on the machine that controls the study."""

from __future__ import annotations

from density_study.cluster.providers.ssh.programs import HERE as THIS_MACHINE
from density_study.cluster.providers.ssh.programs import PYTHON, Need, Requirements

HERE = "qemu:///"
"""How the address of this machine's own libvirt begins."""
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


def on_host(signed_on: bool) -> tuple[Need, ...]:
    """Of a host of guests. Monitors run on it by Python where it is reached over SSH."""
    return (*_ON_HOST, PYTHON) if signed_on else _ON_HOST
