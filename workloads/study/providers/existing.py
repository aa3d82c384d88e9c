"""Rules of provider existing: clusters that stand already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.existing_spec import check_existing
from density_study.workloads.study.providers.rules import ProviderRules, check_addresses

if TYPE_CHECKING:
    from density_study.workloads.study.keys import StudyKeys


class ExistingRules(ProviderRules):
    key = "existing"
    builds = False

    def check(self, study: StudyKeys) -> None:
        """What its test cases may not ask for: `TestCase.check_topology`."""
        if study.existing is None:
            message = "provider existing needs the key existing, with configuration and folder"
            raise FaultyKeyError(message, "provider")
        if own := {"gc", "profile"}.intersection(study.monitor.also):
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


RULES = ExistingRules("existing")
