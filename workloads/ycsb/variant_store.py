"""`VariantStore`: what a variant store holds and is asked for, and the properties that tell its client."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

WORKLOAD = "org.densitystudy.variants.VariantWorkload"
MIN_SITES = 24
"""One on each chromosome."""
MAX_REGION = 20
"""Medians; `Regions.LONGEST` of the client."""
VALUE_MIB = 80 / 2**20
"""Values of a row, mean of reference blocks and variants; a test in Java counts them."""
STORED_ROW_MIB = 210 / 2**20
"""With a key of 19 bytes and HBase's overhead on each of its 3 or 4 cells."""


class VariantStore(BaseModel):
    """Every one of `samples` has a row at every one of `sites`, sites spread over GRCh38.

    regions: how many regions cohort queries ask for. region_sites: their median length. seed: of
    sites, rows, regions and queries.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: int = Field(gt=0)
    sites: int = Field(ge=MIN_SITES)
    regions: int = Field(gt=0)
    region_sites: int = Field(gt=0)
    seed: int = Field(ge=0)

    @property
    def rows(self) -> int:
        return self.samples * self.sites

    @property
    def name(self) -> str:
        """For ids: `s50x4000`."""
        return f"s{self.samples}x{self.sites}"

    @property
    def table(self) -> str:
        """One table for each size and seed, whatever is asked of it."""
        return f"variants_{self.samples}_{self.sites}_{self.seed}"

    @property
    def longest_scan(self) -> int:
        """Rows of the longest region there may be."""
        return MAX_REGION * self.region_sites * self.samples

    @property
    def splits(self) -> str:
        """For TableTool's `create --variants`."""
        return f"{self.samples},{self.sites},{self.seed}"

    def properties(self) -> dict[str, str]:
        """Of the YCSB client, beside those that every setting has."""
        return {
            "workload": WORKLOAD,
            "variants.samples": str(self.samples),
            "variants.sites": str(self.sites),
            "variants.seed": str(self.seed),
            "variants.regions": str(self.regions),
            "variants.region.sites": str(self.region_sites),
        }
