"""Rules of `factors.tier`."""

from __future__ import annotations

from density_study.cluster.render.settable import SHORT_CIRCUIT
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.keys import StudyKeys
from density_study.workloads.study.tier_spec import TierSpec
from density_study.workloads.testdfsio.modes import READS
from density_study.workloads.testdfsio.setting import DfsioSetting


def check_tiers(study: StudyKeys) -> None:
    """ValueError for the first rule of HDFS's cache that the study violates."""
    for index, tier in enumerate(study.factors.tier or ()):
        if not isinstance(tier, TierSpec) or not tier.hdfs_pmem:
            continue
        if not any(isinstance(s, DfsioSetting) and s.mode in READS for s in study.settings()):
            raise FaultyKeyError(
                "only reads of TestDFSIO use it, and the study has none; add testdfsio with the mode read",
                *("factors", "tier", index, "hdfs_pmem"),
            )
        for name, spec in (study.factors.configuration or {}).items():
            sites = {"core-site": spec.core_site, "hdfs-site": spec.hdfs_site}
            for site, given in sites.items():
                if given.get(SHORT_CIRCUIT) == "true":
                    raise FaultyKeyError(
                        "short-circuit reads open the files on the disk, and pass the cache of the tier "
                        "hdfs_pmem; remove one of them",
                        *("factors", "configuration", name, site, SHORT_CIRCUIT),
                    )
