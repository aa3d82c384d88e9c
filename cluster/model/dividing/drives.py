"""How the nodes of a host share its drives, so that every density uses each drive, and in equal parts. Pure.

Each node has as many drives as any other, and each drive carries as many nodes as any other. Where the number
of nodes divides that of drives, a node has drives of its own. Otherwise nodes share: of 12 drives, each of 8
nodes has 3, and each drive carries 2 nodes.

A guest's data disk has an I/O thread. With one data disk for each drive of a guest, a host of one drive
would have as many I/O threads as guests. So each drive has the same number of data disks at every density:
with one drive and densities 1, 2 and 4, the only guest has four data disks on that drive.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.variant import Variant

MAX_DATA_DISKS = 48
"""For a guest. Each is a PCI device with interrupts: of 68, a guest with one CPU found 64."""


def dealt_drives(
    disks: Sequence[Disk],
    variant: Variant,
    variants: Sequence[Variant],
    host: Host,
    isolation: Isolation,
) -> list[tuple[Disk, ...]]:
    """The drives of each node that the variant has on the host; of a guest, one entry for each data disk.

    InputError if no number of data disks suits all densities of the study.
    """
    each = len(disks) // gcd(len(disks), variant.nodes)
    groups = len(disks) // each
    repeat = 1
    if isolation.facts.own_kernel:
        repeat = _pieces(disks, variants, host) // (each * variant.nodes)
    dealt = []
    for index in range(variant.nodes):
        turn, group = divmod(index, groups)
        own = disks[group * each : (group + 1) * each]
        begin = turn % each  # what is no data lies on a node's first drive: another one for each
        dealt.append((*own[begin:], *own[:begin]) * repeat)
    return dealt


def _pieces(disks: Sequence[Disk], variants: Sequence[Variant], host: Host) -> int:
    """Data disks on a host, in every variant with guests."""
    densities = sorted({variant.vms_per_host for variant in variants if variant.vms_per_host})
    if _fit(len(disks), densities):
        return lcm(len(disks), *densities)
    fitting: list[int] = []
    for density in densities:
        if _fit(len(disks), [*fitting, density]):
            fitting.append(density)
    words = ", ".join(map(str, fitting))
    raise InputError(
        f"its {len(disks)} {disks[0].disk_type} drives cannot be dealt out equally to "
        f"{', '.join(map(str, densities))} guests: with as many data disks at every density, a guest would "
        f"have {lcm(len(disks), *densities) // densities[0]}, and can have {MAX_DATA_DISKS}.",
        f"host {host.name!r}, vms_per_host",
        f"use the densities {words}, or others that divide the drives." if fitting else
        f"use densities of {-(-len(disks) // MAX_DATA_DISKS)} or more, or fewer drives.",
        ("factors", "vms_per_host"),
    )  # fmt: skip


def _fit(drives: int, densities: Sequence[int]) -> bool:
    return lcm(drives, *densities) // min(densities) <= MAX_DATA_DISKS
