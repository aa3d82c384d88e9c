"""Rules of provider container: containers on this machine or, with the key `ssh`, on hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from density_study.cluster.model.host import ContainerHost
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.containers_spec import ContainersSpec
from density_study.workloads.study.providers.rules import (
    ProviderRules,
    check_addresses,
    check_no_jump,
    check_workers,
)

if TYPE_CHECKING:
    from density_study.workloads.study.keys import StudyKeys


class ContainerRules(ProviderRules):
    key = "containers"
    over_ssh = "; other hosts need the key ssh, with user: root"

    def nodes_by(self, study: StudyKeys) -> str:
        return "container-ssh" if study.ssh else "container"

    def check(self, study: StudyKeys) -> None:
        if study.ssh is None:
            self.check_this_machine(study)
        elif study.ssh.user != "root":
            raise FaultyKeyError(
                f"only root makes containers; user {study.ssh.user!r} cannot: write user: root, on hosts of "
                "a laboratory",
                *("ssh", "user"),
            )
        else:
            check_no_jump(study)
            check_addresses(study)
        self.check_densities(study)
        self.parts(study)  # ValueError if they are too many
        check_workers(study)

    def parts(self, study: StudyKeys) -> tuple[ContainerHost, ...]:
        """How each host carries the workers of the densest variant, a master and a client. ValueError if the
        network is too small."""
        spec = study.containers or ContainersSpec()
        return spec.carried(len(study.hosts), 2 + max(study.factors.vms_per_host))


RULES = ContainerRules("container")
