"""XML of a build's domains, networks, pools and volumes, from `templates/`. Jinja escapes the values."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path, PurePath
from string import ascii_lowercase
from typing import Any, Literal

import jinja2

from density_study.cluster.providers.libvirt.image import ROOT_LABEL
from density_study.cluster.providers.libvirt.names import METADATA_URI
from density_study.cluster.state.events import Accel

KERNEL_ARGUMENTS = (
    f"root=LABEL={ROOT_LABEL} rw console=ttyS0 net.ifnames=0 quiet panic=-1 fsck.mode=skip"
)
EMULATED_ARGUMENTS = " mitigations=off no5lvl tsc=reliable"
"""Under emulation there is no CPU to protect, and software walks the page tables. QEMU's TSC is the same for
all vCPUs, but the kernel distrusts it on several: it would read the time from the emulated HPET, which is
much slower, at every call."""
_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def device(number: int) -> str:
    """vda, ..., vdz, vdaa, ...: the name of the disk `number`, from 0."""
    name = ""
    while number >= 0:
        number, letter = divmod(number, 26)
        name, number = ascii_lowercase[letter] + name, number - 1
    return f"vd{name}"


_TEMPLATES.filters["device"] = device


def kernel_arguments(accel: Accel) -> str:
    return KERNEL_ARGUMENTS + (EMULATED_ARGUMENTS if accel == "tcg" else "")


def domain_xml(**values: Any) -> str:
    """`guest` and its `disks` are None for a probe, which has neither disks nor network."""
    return _TEMPLATES.get_template("domain.xml").render(metadata_uri=METADATA_URI, **values)


def network_xml(name: str, uuid: str, bridge: str, address: str | None) -> str:
    """A network of our own, with the host on it as `address` (with its prefix length); without an address,
    the host's own `bridge`."""
    template = _TEMPLATES.get_template("network.xml")
    return template.render(name=name, uuid=uuid, bridge=bridge, address=address)


def pool_xml(name: str, uuid: str | None, target: PurePath) -> str:
    return _TEMPLATES.get_template("pool.xml").render(name=name, uuid=uuid, target=target)


def volume_xml(
    name: str,
    capacity_bytes: int,
    format: Literal["qcow2", "raw"] = "raw",
    backing: PurePath | None = None,
    public: bool = False,
    allocated: bool = False,
) -> str:
    """A volume, sparse unless `allocated`; a clone of the raw image `backing` if given. A guest's disks hold
    its private key: other users of the host can read a volume only if it is `public`, as an image is."""
    return _TEMPLATES.get_template("volume.xml").render(
        name=name,
        capacity_bytes=capacity_bytes,
        allocated_bytes=capacity_bytes if allocated else 0,
        format=format,
        backing=backing,
        public=public,
    )


def tag_in(metadata: str) -> str | None:
    """The tag in the output of `virsh metadata`; None if there is none."""
    try:
        return ET.fromstring(metadata).get("tag")
    except ET.ParseError:
        return None
