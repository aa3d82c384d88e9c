"""Whether guests really boot under KVM on a host; otherwise they are emulated, and the record says so.

An accessible /dev/kvm proves nothing: under some hypervisors its machines never run. So the probe boots the
golden image's kernel without a root filesystem: the kernel panics, which ends the domain.
"""

from __future__ import annotations

import time
from pathlib import PurePosixPath

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.libvirt.guests import Vcpus
from density_study.cluster.providers.libvirt.names import domain_name, uuid_of
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.libvirt.xml import domain_xml, kernel_arguments
from density_study.cluster.state.events import Accel, Acceleration
from density_study.cluster.state.journal import Journal

PROBE_NODE = "accel"
KVM_LIMIT_S = 20.0
_ENDED = ("shutdown", "destroyed")


def find_acceleration(virsh: Virsh, site: Site, journal: Journal, kernel: PurePosixPath) -> Accel:
    """KVM if a guest boots under it within `KVM_LIMIT_S`, else emulation. Journalled."""
    booted, why = boots(virsh, site, journal, kernel, "kvm", KVM_LIMIT_S)
    accel: Accel = "kvm" if booted else "tcg"
    args = kernel_arguments(accel)
    found = Acceleration(uri=virsh.uri, tag=site.tag, accel=accel, why=why, kernel_arguments=args)
    journal.record(found)
    return accel


def check_kvm(virsh: Virsh, why: str = "") -> None:
    """InputError if libvirt has no KVM there, with what is known to be the reason; StudyError if it does not
    answer. Whether guests really boot under KVM shows at the bring-up."""
    virsh.run("version")
    try:
        virsh.run("domcapabilities", "--virttype", "kvm")
    except StudyError as error:
        reason = why or error.what.removesuffix(".")
        raise InputError(
            f"there is no KVM ({reason}); guests would be emulated: about twenty times slower, and "
            "their results decide nothing.",
            f"libvirt {virsh.uri}",
            "enable virtualization in the host's firmware, or nested virtualization above it, and load "
            "kvm_intel or kvm_amd.",
        ) from error


def boots(
    virsh: Virsh, site: Site, journal: Journal, kernel: PurePosixPath, accel: Accel, limit_s: float
) -> tuple[bool, str]:
    """Whether the kernel boots until it misses its root filesystem, and a description of what happened."""
    name = domain_name(site.tag, PROBE_NODE)
    xml = probe_xml(site.tag, accel, kernel)
    journal.intend("probe-accel", site.tag, uri=virsh.uri, domain=name)
    try:
        virsh.run("define", "/dev/stdin", stdin=xml)
        virsh.run("start", name)
        return _await_end(virsh, name, accel, limit_s)
    except StudyError as error:
        return False, f"no guest starts under {accel}: {error.what}"
    finally:
        if virsh.found("domstate", name) is not None:
            virsh.stop(name)
            virsh.run("undefine", name)


def probe_xml(tag: str, accel: Accel, kernel: PurePosixPath) -> str:
    """A domain without disks and network, which panics when its kernel has booted."""
    name = domain_name(tag, PROBE_NODE)
    return domain_xml(
        guest=None,
        name=name,
        uuid=uuid_of(tag, "domain", name),
        tag=tag,
        node=PROBE_NODE,
        memory_mib=256,
        vcpus=Vcpus(1),
        accel=accel,
        kernel=kernel,
        arguments="panic=-1 quiet",
    )


def _await_end(virsh: Virsh, name: str, accel: Accel, limit_s: float) -> tuple[bool, str]:
    began = time.monotonic()
    while (seconds := time.monotonic() - began) < limit_s:
        state = virsh.run("domstate", name, "--reason").strip()
        if state.startswith("shut off"):
            if any(reason in state for reason in _ENDED):
                return True, f"a kernel booted under {accel} in {seconds:.1f} s"
            return False, f"a guest under {accel} ended: {state}"
        time.sleep(0.2)
    return False, f"a kernel under {accel} had not booted after {limit_s:.0f} s"
