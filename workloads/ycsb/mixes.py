"""The mixes of operations, as parameters of YCSB's CoreWorkload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from density_study.workloads.base.checked import FaultyKeyError, like
from density_study.workloads.base.values import Frozen
from density_study.workloads.ycsb.distribution import KeyDistribution, Keys

CoreMix = Literal[
    "load", "read45-insert55", "scan95-insert5", "a", "b", "c", "d", "e", "f"
]  # a to f: YCSB's own core workloads
VariantMix = Literal["variant-load", "region-scan", "sample-read", "cohort-query"]
Mix = CoreMix | VariantMix
_OPERATIONS = ("read", "update", "insert", "scan", "readmodifywrite")


def _shares(**share: float) -> Mapping[str, float]:
    if abs(sum(share.values()) - 1) > 1e-9 or not set(share) <= set(_OPERATIONS):
        raise ValueError(f"a mix is shares of {_OPERATIONS} that add up to 1: {share}")
    return MappingProxyType({operation: share.get(operation, 0.0) for operation in _OPERATIONS})


@dataclass(frozen=True)
class MixFacts:
    """label: for people. shares: those of each operation. latency: operations whose latency is compared.
    distribution: of requests, where YCSB's core workload fixes it; the study sets that of the other mixes."""

    label: str
    shares: Mapping[str, float]
    latency: tuple[str, ...] = ("READ",)
    distribution: KeyDistribution | None = None


_INSERT = _shares(insert=1.0)
# In the order in which test cases are shown.
MIXES: Mapping[Mix, MixFacts] = MappingProxyType(
    {
        "load": MixFacts("data load", _INSERT, ("INSERT",)),
        # The talk: reads among heavy inserts.
        "read45-insert55": MixFacts(
            "45/55 read-insert", _shares(read=0.45, insert=0.55), ("READ", "INSERT")
        ),
        # The talk: short range scans, few inserts.
        "scan95-insert5": MixFacts(
            "95/5 short scan", _shares(scan=0.95, insert=0.05), ("SCAN", "INSERT")
        ),
        "a": MixFacts("core workload A", _shares(read=0.5, update=0.5)),
        "b": MixFacts("core workload B", _shares(read=0.95, update=0.05)),
        "c": MixFacts("core workload C", _shares(read=1.0)),
        "d": MixFacts(
            "core workload D",
            _shares(read=0.95, insert=0.05),
            distribution=KeyDistribution("latest"),
        ),
        "e": MixFacts("core workload E", _shares(scan=0.95, insert=0.05)),
        "f": MixFacts("core workload F", _shares(read=0.5, readmodifywrite=0.5)),
        "variant-load": MixFacts("variant store, load", _INSERT, ("INSERT",)),
        # A cohort: the rows of all samples in a region.
        "region-scan": MixFacts("variant store, region scan", _shares(scan=1.0), ("SCAN",)),
        # One sample at one site.
        "sample-read": MixFacts("variant store, sample read", _shares(read=1.0)),
        # Regions, and single genotypes within them.
        "cohort-query": MixFacts(
            "variant store, scans among reads", _shares(scan=0.2, read=0.8), ("SCAN", "READ")
        ),
    }
)
# Exercises every code path of a RegionServer; warms up the servers whatever mixes the study runs.
WARM_UP: Mapping[str, float] = _shares(read=0.4, update=0.1, insert=0.4, scan=0.1)
# The same for a variant store: its load has already warmed up the write path.
WARM_UP_VARIANTS: Mapping[str, float] = _shares(scan=0.5, read=0.5)


def is_load(mix: str) -> bool:
    """Whether the mix writes a whole table, and ends with its last row: it has no duration of its own."""
    return mix in ("load", "variant-load")


def _not_ours(name: str) -> str:
    if name in MIXES:
        raise ValueError(f"{name!r} is a mix of this program; choose another name")
    return name


Share = Annotated[float, Field(ge=0, le=1)]
MixName = Annotated[
    str,
    like(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", "a name of lower-case words and numbers, like hot-reads"),
    Field(max_length=40),
    AfterValidator(_not_ours),
]


class OwnMix(Frozen):
    """A mix of the study's own: a name, and the shares of its operations, which add up to 1."""

    name: MixName = Field(description="its name in test cases and in the report")
    read: Share = Field(0.0, description="share of reads of one row")
    update: Share = Field(0.0, description="share of writes to an existing row")
    insert: Share = Field(0.0, description="share of writes of a new row")
    scan: Share = Field(0.0, description="share of short range scans")
    read_modify_write: Share = Field(0.0, description="share of reads, each followed by an update")
    request_distribution: Keys | None = Field(
        None, description="distribution of keys; default: that of the study"
    )

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        total = sum(self._given)
        if abs(total - 1) > 1e-6:
            raise FaultyKeyError(f"the shares add up to {total:.4g}; they must add up to 1", "name")
        return self

    @property
    def _given(self) -> tuple[float, ...]:
        return self.read, self.update, self.insert, self.scan, self.read_modify_write

    @property
    def facts(self) -> MixFacts:
        """Compared are reads and scans, or in a mix without them its writes. A read-modify-write is counted
        as its read and its update."""
        shares = dict(zip(_OPERATIONS, self._given, strict=True))
        reads = [name for name, share in (("READ", self.read + self.read_modify_write), ("SCAN", self.scan))
                 if share]  # fmt: skip
        writes = [
            name for name, share in (("UPDATE", self.update), ("INSERT", self.insert)) if share
        ]
        return MixFacts(
            label=self.name,
            shares=MappingProxyType(shares),
            latency=tuple(reads or writes),
            distribution=self.request_distribution,
        )


def _kind(value: Any) -> str:
    return "(own)" if isinstance(value, dict | OwnMix) else "(core)"


MixChoice = Annotated[
    Annotated[CoreMix, Tag("(core)")] | Annotated[OwnMix, Tag("(own)")], Discriminator(_kind)
]
"""An element of `mixes` of a study: the name of a mix, or a mix of its own."""


def facts_of(mix: Mix | OwnMix) -> MixFacts:
    return mix.facts if isinstance(mix, OwnMix) else MIXES[mix]


def name_of(mix: Mix | OwnMix) -> str:
    return mix.name if isinstance(mix, OwnMix) else mix
