"""`GenomicsSpec`: the key `genomics` of a study file, a cohort's variant store on HBase driven by YCSB. Its
test cases are YCSB test cases with mixes of their own; its client is in java/."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from density_study.workloads.base.checked import FaultyKeyError, at_most
from density_study.workloads.ycsb.distribution import ZIPFIAN, KeyDistribution, Keys
from density_study.workloads.ycsb.mixes import VariantMix
from density_study.workloads.ycsb.spec import Rows, RunsSpec
from density_study.workloads.ycsb.test_case import INT_MAX
from density_study.workloads.ycsb.variant_store import MAX_REGION, MIN_SITES, VariantStore


def _drawn(value: KeyDistribution) -> KeyDistribution:
    if value.name not in ("zipfian", "uniform"):
        raise ValueError(f"write 'zipfian' or 'uniform', not {value.name!r}")
    return value


class GenomicsSpec(RunsSpec):
    """A variant store on HBase: a saturation trial per combination of samples, threads and mix, and with the
    maximum of `threads` a latency trial per combination of samples, mix and latency_at, as for `ycsb`.

    A sample's gVCF is thinned out to `sites` rows. Regions contain as many sites as at full density, so
    that a query returns as many rows as it would there.
    """

    mixes: tuple[VariantMix, ...] = Field(
        ("variant-load", "region-scan", "sample-read"),
        min_length=1,
        description="mixes of operations to run",
    )
    samples: tuple[Annotated[int, Field(strict=True, ge=1, le=999_999)], ...] = Field(
        min_length=1, description="samples to load; one table each"
    )
    sites: Annotated[int, Field(strict=True, ge=MIN_SITES, le=INT_MAX)] = Field(
        4000, description="rows per sample"
    )
    regions: Annotated[Rows, at_most(1_000_000, "the client keeps every region in memory")] = Field(
        1000, description="number of regions that queries choose from"
    )
    region_sites: Rows = Field(20, description="median number of sites in a queried region")
    request_distribution: Annotated[
        Keys, AfterValidator(_drawn), WithJsonSchema({"enum": ["zipfian", "uniform"]})
    ] = Field(ZIPFIAN, description="distribution of queries over regions and samples")
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = Field(
        20130226, description="seed of sites, rows, regions and queries"
    )

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.samples

    def table_knobs(self, size: int) -> dict[str, Any]:
        knobs = self.model_dump(include={"sites", "regions", "region_sites", "seed"})
        store = VariantStore(samples=size, **knobs)
        return {"records": store.rows, "max_scan_length": store.longest_scan, "variants": store}

    @model_validator(mode="after")
    def _countable(self) -> Self:
        if max(self.samples) * self.sites > INT_MAX:
            raise FaultyKeyError(
                f"samples x sites exceeds {INT_MAX:,} rows, the maximum that YCSB counts", "sites"
            )
        if MAX_REGION * self.region_sites * max(self.samples) > INT_MAX:
            raise FaultyKeyError(
                f"the longest region of all samples exceeds {INT_MAX:,} rows, the maximum that YCSB "
                "counts",
                "region_sites",
            )
        return self
