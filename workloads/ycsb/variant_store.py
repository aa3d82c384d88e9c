"""`VariantStore`: contents and queries of a variant store, and the properties of its client."""

from __future__ import annotations

from pydantic import Field

from density_study.workloads.base.values import Frozen

WORKLOAD = "org.densitystudy.variants.VariantWorkload"
MIN_SITES = 24  # one site per chromosome
MAX_REGION = 20  # longest region in medians; equals `Regions.LONGEST` of the client
# Size of a row's values, the mean of reference blocks and variants; a Java test verifies it.
VALUE_MIB = 80 / 2**20
# Size of a row with its 19-byte key and HBase's overhead for each of its 3 or 4 cells.
STORED_ROW_MIB = 210 / 2**20


class VariantStore(Frozen):
    """Each sample has one row per site; the sites are spread over the reference genome GRCh38."""

    samples: int = Field(gt=0)
    sites: int = Field(ge=MIN_SITES)
    regions: int = Field(gt=0, description="number of regions that queries choose from")
    region_sites: int = Field(gt=0, description="median number of sites in a region")
    seed: int = Field(ge=0, description="seed of sites, rows, regions and queries")

    @property
    def rows(self) -> int:
        return self.samples * self.sites

    @property
    def name(self) -> str:
        """Part of test case ids: `s50x4000`."""
        return f"s{self.samples}x{self.sites}"

    @property
    def table(self) -> str:
        """One table per size and seed, shared by all queries."""
        return f"variants_{self.samples}_{self.sites}_{self.seed}"

    @property
    def longest_scan(self) -> int:
        """Rows of the longest possible region."""
        return MAX_REGION * self.region_sites * self.samples

    @property
    def splits(self) -> str:
        """Argument of TableTool's `create --variants`."""
        return f"{self.samples},{self.sites},{self.seed}"

    def properties(self) -> dict[str, str]:
        """Properties of the YCSB client in addition to those of every test case."""
        return {
            "workload": WORKLOAD,
            "variants.samples": str(self.samples),
            "variants.sites": str(self.sites),
            "variants.seed": str(self.seed),
            "variants.regions": str(self.regions),
            "variants.region.sites": str(self.region_sites),
        }
