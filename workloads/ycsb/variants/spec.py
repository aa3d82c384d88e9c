"""`GenomicsSpec`: the key `genomics` of a study file. Its settings are YCSB settings with mixes of their
own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from workloads.base.checked import FaultyKeyError, at_most
from workloads.base.quantity import Seconds
from workloads.base.setting import WorkloadSpec
from workloads.ycsb.mixes import Mix, VariantMix, is_load
from workloads.ycsb.setting import INT_MAX, YcsbSetting
from workloads.ycsb.spec import RegionsPerServer, Rows, Threads, check_number_of_settings
from workloads.ycsb.target import LatencyTarget, Target
from workloads.ycsb.variant_store import MAX_REGION, MIN_SITES, VariantStore
from workloads.ycsb.warm_up_knobs import WARM_UP_CLIENT_S, WarmUp, WarmUpClient, warm_up_knobs


class GenomicsSpec(WorkloadSpec):
    """A variant store on HBase: a saturation trial per combination of samples, threads and mix, and with the
    maximum of `threads` a latency trial per combination of samples, mix and latency_at, as for `ycsb`.

    A sample's gVCF is thinned out to `sites` rows. Regions contain as many sites as at full density, so
    that a query returns as many rows as it would there.
    """

    samples: tuple[Annotated[int, Field(strict=True, ge=1, le=999_999)], ...] = Field(
        min_length=1, description="samples to load; one table each"
    )
    sites: Annotated[int, Field(strict=True, ge=MIN_SITES, le=INT_MAX)] = Field(
        4000, description="rows per sample"
    )
    mixes: tuple[VariantMix, ...] = Field(
        ("variant-load", "region-scan", "sample-read"),
        min_length=1,
        description="mixes of operations to run",
    )
    threads: tuple[Threads, ...] = Field(
        min_length=1, description="threads per client process; one saturation trial each"
    )
    clients: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(
        1, description="client processes that share the load"
    )
    latency_at: tuple[LatencyTarget, ...] = Field(
        (), description="target rates of latency trials: 70% of the measured saturation, or 2000/s"
    )
    regions: Annotated[Rows, at_most(1_000_000, "the client keeps every region in memory")] = Field(
        1000, description="number of regions that queries choose from"
    )
    region_sites: Rows = Field(20, description="median number of sites in a queried region")
    request_distribution: Literal["zipfian", "uniform"] = Field(
        "zipfian", description="distribution of queries over regions and samples"
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = Field(
        20130226, description="seed of sites, rows, regions and queries"
    )
    duration: Seconds = Field(600.0, description="length of a run, ramp-up included: 10 min")
    warm_up: Seconds = Field(60.0, description="ramp-up that is excluded from every metric: 60 s")
    warm_up_client: WarmUpClient = Field(
        WARM_UP_CLIENT_S, description="client warm-up before its schedule starts: 20 s, or off"
    )
    warm_up_daemons: WarmUp = Field(
        "steady", description="server warm-up before measured trials: steady, a time, or off"
    )
    regions_per_server: RegionsPerServer = Field(
        10, description="regions of the table per RegionServer"
    )

    @model_validator(mode="after")
    def _measures_something(self) -> GenomicsSpec:
        if self.warm_up >= self.duration:
            raise FaultyKeyError("warm_up leaves nothing of the duration to measure", "warm_up")
        if self.latency_at and set(self.mixes) == {"variant-load"}:
            raise FaultyKeyError(
                "latency_at needs a mix besides variant-load: a load has no latency trial",
                "latency_at",
            )
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
        check_number_of_settings(self.samples, self.threads, self.latency_at, self.mixes)
        return self

    def settings(self) -> tuple[YcsbSetting, ...]:
        return (*self._saturation(), *self._latency())

    def _saturation(self) -> Iterator[YcsbSetting]:
        for samples in dict.fromkeys(self.samples):
            for threads in dict.fromkeys(self.threads):
                for mix in dict.fromkeys(self.mixes):
                    yield self._setting(samples, threads, mix)

    def _latency(self) -> Iterator[YcsbSetting]:
        for samples in dict.fromkeys(self.samples):
            for mix in dict.fromkeys(mix for mix in self.mixes if not is_load(mix)):
                for target in dict.fromkeys(self.latency_at):
                    yield self._setting(samples, max(self.threads), mix, target)

    def _setting(
        self, samples: int, threads: int, mix: Mix, target: Target | None = None
    ) -> YcsbSetting:
        target = target or Target()
        store = VariantStore(
            samples=samples,
            sites=self.sites,
            regions=self.regions,
            region_sites=self.region_sites,
            seed=self.seed,
        )
        timed = not is_load(mix)
        return YcsbSetting(
            mix=mix,
            records=store.rows,
            threads=threads,
            clients=self.clients,
            duration_s=self.duration if timed else None,
            warm_up_s=self.warm_up if timed else 0.0,
            warm_up_client_s=self.warm_up_client if timed else 0.0,
            **warm_up_knobs(self.warm_up_daemons),
            target_percent=target.percent,
            target_ops_s=target.ops_s,
            request_distribution=self.request_distribution,
            max_scan_length=store.longest_scan,
            regions_per_server=self.regions_per_server,
            variants=store,
        )
