"""How much longer than on real hardware a build may take: emulated guests are some twenty times slower."""

from __future__ import annotations

from collections.abc import Mapping

from cluster.state.events import Acceleration
from cluster.state.journal import Journal

EMULATED = 12.0
"""A JVM's start-up under QEMU's own emulation took 10 to 20 times as long as on the host; limits have
slack already."""


def timeout_scale(tag: str, journal: Journal) -> float:
    """Factor for the limits of waiting, by what the journal says of the build's acceleration."""
    return timeout_scale_of(acceleration(tag, journal))


def timeout_scale_of(told: Mapping[str, str]) -> float:
    """The same, of what `acceleration` told."""
    return EMULATED if "tcg" in told.values() else 1.0


def acceleration(tag: str, journal: Journal) -> dict[str, str]:
    """For the disclosure, too: libvirt's URI -> kvm or tcg. Empty for a build without guests."""
    return {found.uri: found.accel for found in journal.events(Acceleration) if found.tag == tag}
