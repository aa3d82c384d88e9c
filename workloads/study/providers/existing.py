"""Rules of provider existing: running clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.monitors import WATCHING
from density_study.workloads.study.existing_spec import check_existing
from density_study.workloads.study.providers.rules import ProviderRules, check_addresses

if TYPE_CHECKING:
    from density_study.workloads.study.keys import StudyKeys

CLIENT_HOST = "here"
WATCHED_KEYS = {"name", "address", "roles"}


class ExistingRules(ProviderRules):
    key = "existing"
    builds = False

    def filled(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """The study with the keys that other providers need: this machine is the client."""
        for key, why in (
            ("stack", "the cluster has its own versions and settings"),
            ("vms", "nothing is built"),
        ):
            if key in value:
                raise FaultyKeyError(f"provider existing takes no key {key}: {why}", key)
        factors, watched = value.get("factors", {}), value.get("hosts", [])
        if not isinstance(factors, dict) or set(factors) - {"cluster"}:
            raise FaultyKeyError(
                "provider existing takes only the factor cluster: an existing cluster cannot be changed",
                "factors",
            )
        if bool(watched) != ("ssh" in value):
            raise FaultyKeyError(
                "provider existing watches hosts over SSH: it needs both keys, hosts and ssh, or none",
                "hosts" if watched else "ssh",
            )
        client = {"name": CLIENT_HOST, "memory": "auto", "roles": ["client"], "disks": []}
        hosts = [_watched(host, index) for index, host in enumerate(watched)]
        # the client comes last, so that a fault of a host names its place in the file
        return {**value, "hosts": [*hosts, client], "factors": {**factors, "vms_per_host": [0]}}

    def check(self, study: StudyKeys) -> None:
        """What its test cases may not ask for: `TestCase.check_topology`."""
        if study.existing is None:
            message = "provider existing needs the key existing, with configuration and folder"
            raise FaultyKeyError(message, "provider")
        if own := set(WATCHING).intersection(study.monitor.also):
            raise FaultyKeyError(
                f"{min(own)} watches daemons that the study has started; those of an existing cluster belong "
                "to others",
                *("monitor", "also"),
            )
        if study.existing.endpoint is not None and "jmx" in study.monitor.also:
            raise FaultyKeyError(
                "jmx asks the daemons of HDFS and HBase; an endpoint has none", *("monitor", "also")
            )
        check_existing(
            study.existing, study.factors.cluster, [host.name for host in study.hosts[:-1]]
        )
        check_addresses(study, study.hosts[:-1], loopback=True)

    def check_foreign(self, study: StudyKeys) -> None:
        super().check_foreign(study)
        if study.factors.cluster is not None:
            raise FaultyKeyError(
                "factors.cluster compares existing clusters: it needs provider existing; the provider is "
                f"{study.provider}",
                *("factors", "cluster"),
            )


def _watched(host: Any, index: int) -> Any:
    """A host of the existing cluster: monitors run there, and nothing else."""
    if not isinstance(host, dict):
        return host
    if other := sorted(set(host) - WATCHED_KEYS):
        raise FaultyKeyError(
            f"a host of an existing cluster is only watched: it takes {', '.join(sorted(WATCHED_KEYS))}, not "
            f"{other[0]}",
            *("hosts", index, other[0]),
        )
    if "client" in (host.get("roles") or ()):
        raise FaultyKeyError(
            "the client of an existing cluster is this machine", *("hosts", index, "roles")
        )
    return {**host, "memory": "auto", "disks": []}


RULES = ExistingRules("existing")
