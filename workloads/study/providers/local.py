"""Rules of provider local: groups of processes on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.providers.rules import DENSITIES, ProviderRules, check_workers

if TYPE_CHECKING:
    from density_study.workloads.study.keys import StudyKeys


class LocalRules(ProviderRules):
    def check(self, study: StudyKeys) -> None:
        self.check_this_machine(study)
        if 0 in study.factors.vms_per_host:
            raise FaultyKeyError(
                "vms_per_host 0 is the bare host; provider local has process groups only: start at 1",
                *DENSITIES,
            )
        check_workers(study)


RULES = LocalRules("local")
