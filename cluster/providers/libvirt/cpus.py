"""vCPUs of guests: all cores to each, as in the talk, or pinned equal shares. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.model.errors import InputError
from cluster.model.host import VcpuPolicy


@dataclass(frozen=True)
class Vcpus:
    """The number of vCPUs of a guest, and the host cores they may run on (empty: any)."""

    count: int
    pinned_to: tuple[int, ...] = ()


def vcpus(policy: VcpuPolicy, cores: int, index: int, guests: int, where: str) -> Vcpus:
    """vCPUs of the guest `index` (from 0) among `guests` on a host with `cores`.

    `pinned` gives each guest the same number of exclusive cores; InputError if cores are left over, since
    densities would then use different hardware.
    """
    if policy == "all":
        return Vcpus(cores)
    if cores % guests or guests > cores:
        raise InputError(
            f"{cores} core(s) cannot be divided into equal shares for {guests} guests.",
            f"{where}, key vcpus",
            "set vcpus: all, or use densities that divide the host's cores.",
        )
    share = cores // guests
    return Vcpus(share, tuple(range(index * share, (index + 1) * share)))
