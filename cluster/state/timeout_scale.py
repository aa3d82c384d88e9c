"""Factor for timeouts: emulated guests are about twenty times slower than real hardware."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.state.events import Acceleration
from density_study.cluster.state.journal import Journal

EMULATED = 12.0
"""A JVM starts 10 to 20 times slower under QEMU's emulation than on the host; timeouts have slack already."""


def timeout_scale(tag: str, journal: Journal) -> float:
    """Factor for the timeouts of a build, from its acceleration in the journal."""
    return timeout_scale_of(acceleration(tag, journal))


def timeout_scale_of(acceleration: Mapping[str, str]) -> float:
    """The same, from the result of `acceleration`."""
    return EMULATED if "tcg" in acceleration.values() else 1.0


def acceleration(tag: str, journal: Journal) -> dict[str, str]:
    """libvirt's URI -> kvm or tcg, also for the disclosure. Empty for a build without guests."""
    return {found.uri: found.accel for found in journal.events(Acceleration) if found.tag == tag}
