"""What a study may ask of a variant store (`genomics:`). Its settings are YCSB's, of its own mixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workloads.base.checked import FaultyKeyError, at_most
from workloads.base.quantity import Seconds
from workloads.ycsb.mixes import is_load
from workloads.ycsb.setting import (
    INT_MAX,
    Mix,
    RegionsPerServer,
    Rows,
    Threads,
    YcsbSetting,
    refuse_too_many,
)
from workloads.ycsb.target import LatencyTarget, Target
from workloads.ycsb.variants.store import MAX_REGION, MIN_SITES, VariantStore
from workloads.ycsb.warm_up_knobs import WARM_UP_CLIENT_S, WarmUp, WarmUpClient, warm_up_knobs

VariantMix = Literal["variant-load", "region-scan", "sample-read", "cohort-query"]


class GenomicsSpec(BaseModel):
    """A saturation trial for each of samples x threads x mixes, and with the most threads a latency
    trial for each of samples x mixes x latency_at, as `ycsb` has them.

    A sample's gVCF is thinned to `sites` rows; regions have as many sites as they would have at
    full density, so that a query brings as many rows as it would there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: tuple[Annotated[int, Field(strict=True, ge=1, le=999_999)], ...] = Field(min_length=1)
    sites: Annotated[int, Field(strict=True, ge=MIN_SITES, le=INT_MAX)] = 4000
    mixes: tuple[VariantMix, ...] = Field(
        ("variant-load", "region-scan", "sample-read"), min_length=1
    )
    threads: tuple[Threads, ...] = Field(min_length=1)
    clients: Annotated[int, Field(strict=True, ge=1, le=64)] = 1
    latency_at: tuple[LatencyTarget, ...] = ()
    regions: Annotated[Rows, at_most(1_000_000, "the client keeps every region in memory")] = 1000
    region_sites: Rows = 20
    request_distribution: Literal["zipfian", "uniform"] = "zipfian"
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = 20130226
    duration: Seconds = 600.0
    warm_up: Seconds = 60.0
    warm_up_client: WarmUpClient = WARM_UP_CLIENT_S
    warm_up_daemons: WarmUp = "steady"
    regions_per_server: RegionsPerServer = 10

    @model_validator(mode="after")
    def _measures_something(self) -> GenomicsSpec:
        if self.warm_up >= self.duration:
            raise FaultyKeyError(
                "warm_up takes the whole duration; nothing would be measured", "warm_up"
            )
        if self.latency_at and set(self.mixes) == {"variant-load"}:
            raise FaultyKeyError(
                "latency_at needs a mix besides variant-load, which has no such trial", "latency_at"
            )
        if max(self.samples) * self.sites > INT_MAX:
            raise FaultyKeyError(
                f"samples x sites is more than the {INT_MAX:,} rows YCSB can count", "sites"
            )
        if MAX_REGION * self.region_sites * max(self.samples) > INT_MAX:
            raise FaultyKeyError(
                f"the longest region of every sample has more than the {INT_MAX:,} rows that YCSB "
                "can count",
                "region_sites",
            )
        refuse_too_many(self.samples, self.threads, self.latency_at, self.mixes)
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
