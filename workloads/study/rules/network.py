"""Rules of `factors.network`."""

from __future__ import annotations

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.keys import StudyKeys
from density_study.workloads.study.network_spec import NetworkSpec

_KEY = ("factors", "network")
_REFUSED = {
    "local": "process groups share the loopback interface of this machine; use provider container or "
    "physical",
    "existing": "the network of a given cluster belongs to others",
}
_NOT_OF = {
    "physical": ("queues", "the queues of a network card are not changed; use provider container"),
    "libvirt": ("queues", "the queues of a guest's card are not changed; use provider container"),
    "container": (
        "irq_affinity",
        "the veth pair of a container has no interrupts; use provider physical",
    ),
}


def check_network(study: StudyKeys) -> None:
    """ValueError where nodes have no network interface that the study may change."""
    if study.factors.network is None:
        return
    if why := _REFUSED.get(study.provider):
        raise FaultyKeyError(f"provider {study.provider} has no factor network: {why}", *_KEY)
    if study.provider in ("container", "libvirt") and 0 in study.factors.vms_per_host:
        raise FaultyKeyError(
            "the bare host (vms_per_host 0) has another network than its nodes, or talks to itself by "
            "loopback, which is not changed; remove 0, or the factor",
            *_KEY,
        )
    if study.provider == "physical" and len(study.hosts) < 2:
        raise FaultyKeyError(
            "one host talks to itself by loopback; add hosts, or use provider container", *_KEY
        )
    key, why = _NOT_OF[study.provider]
    for place, level in enumerate(study.factors.network):
        if isinstance(level, NetworkSpec) and getattr(level, key) is not None:
            raise FaultyKeyError(why, *(*_KEY, place, key))
