"""Rules of provider physical: each host is a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.providers.rules import (
    DENSITIES,
    ProviderRules,
    check_addresses,
    check_workers,
)

if TYPE_CHECKING:
    from density_study.workloads.study.keys import StudyKeys


class PhysicalRules(ProviderRules):
    def check(self, study: StudyKeys) -> None:
        if study.ssh is None:
            raise FaultyKeyError("provider physical needs the key ssh, with a user", "provider")
        check_addresses(study)
        if study.factors.vms_per_host != (0,):
            raise FaultyKeyError(
                "provider physical has bare hosts only: vms_per_host: [0]", *DENSITIES
            )
        check_workers(study)


RULES = PhysicalRules("physical")
