"""`factors.stack`, and the key `stack` of a study: versions of the software. Faults are ValueErrors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from density_study.cluster.model.dividing.sizing import SMALLEST, Sizing
from density_study.cluster.model.topology import Jit
from density_study.cluster.model.variant import Variant
from density_study.cluster.model.versions import (
    BROUGHT_DIGITS,
    HADOOP,
    HBASE,
    Versions,
    numbers,
    vendor_fault,
)
from density_study.cluster.stack.java import OLDEST, fault_of
from density_study.workloads.base.checked import FaultyKeyError, is_recorded, like
from density_study.workloads.base.quantity import Percent, SizeMib
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.factors.factor import Factor, StudyOfFactors

_FOR_HADOOP_3 = "-hadoop3"


def _for_hadoop_3(version: str) -> str:
    """HBase 2 is released twice, for Hadoop 2 and for Hadoop 3."""
    bare = version.startswith("2.") and "-" not in version
    return f"{version}{_FOR_HADOOP_3}" if bare else version


def _apache(version: object) -> object:
    if isinstance(version, str) and (fault := vendor_fault(version)):
        raise ValueError(fault)
    return version


Version = Annotated[
    str,
    BeforeValidator(_apache),
    like(
        r"\d{1,9}(\.\d{1,9}){2}(-[a-z0-9]{1,40}){0,4}",
        "a version on Maven Central, for example 3.4.2",
    ),
]


def _of_major(what: str, *known: int) -> AfterValidator:
    """Other major versions have other daemons, properties and protocols."""

    def checked(version: str, info: ValidationInfo) -> str:
        if numbers(version)[0] not in known and not is_recorded(info):
            majors = " or ".join(map(str, known))
            raise ValueError(f"this project runs {what} {majors}, not {what} {version}")
        return version

    return AfterValidator(checked)


HadoopVersion = Annotated[Version, _of_major("Hadoop", 3)]
HBaseVersion = Annotated[Version, _of_major("HBase", 2, 3), AfterValidator(_for_hadoop_3)]
ZooKeeperVersion = Annotated[Version, _of_major("ZooKeeper", 3)]
BroughtHash = Annotated[
    str, like(rf"[0-9a-f]{{{BROUGHT_DIGITS}}}", f"{BROUGHT_DIGITS} hexadecimal digits")
]
JavaFeature = Annotated[int, Field(strict=True, ge=OLDEST, le=99)]


class StackLevel(Frozen):
    """A level of the factor `stack`. A version that is left out is that of the study's `stack`."""

    hadoop: HadoopVersion | None = Field(None, description="Hadoop version, for example `3.4.1`.")
    hbase: HBaseVersion | None = Field(None, description="HBase version, for example `2.6.4`.")
    zookeeper: ZooKeeperVersion | None = Field(
        None, description="Version of ZooKeeper's server, for example `3.9.5`."
    )
    java: JavaFeature | None = Field(
        None, description="Feature release of the JDK of daemons, containers and TestDFSIO."
    )
    native: BroughtHash | None = Field(
        None, description="Hash of native libraries, as `study stack add native` prints it."
    )
    jars: BroughtHash | None = Field(
        None, description="Hash of jars for HBase, as `study stack add jars` prints it."
    )
    tarball: BroughtHash | None = Field(
        None, description="Hash of Hadoop, as `study stack add hadoop TARBALL` prints it."
    )

    @model_validator(mode="after")
    def _one_key(self) -> StackLevel:
        if not self.name:
            raise ValueError(f"name at least one of {', '.join(type(self).model_fields)}")
        return self

    @property
    def name(self) -> str:
        """hadoop-3.4.1, hadoop-3.4.1-hbase-2.6.4, java-21."""
        given = self.model_dump(exclude_none=True)
        return "-".join(f"{k}-{v}".removesuffix(_FOR_HADOOP_3) for k, v in given.items())

    def over(self, versions: Versions) -> Versions:
        return Versions(
            self.hadoop or versions.hadoop,
            self.hbase or versions.hbase,
            self.java or versions.java,
            native=self.native or versions.native,
            jars=self.jars or versions.jars,
            tarball=self.tarball or versions.tarball,
            zookeeper=self.zookeeper or versions.zookeeper,
        )


class YarnSpec(Frozen):
    """YARN's containers, equal in all variants. What is left out follows the memory of the hosts."""

    share: Percent | Literal["auto"] = Field(
        "auto",
        description="Share of the memory of a host that its daemons leave at the density which leaves least: "
        "what containers may take. RegionServers divide the rest.",
    )
    container: SizeMib | Literal["auto"] = Field(
        "auto",
        description="Memory of a container: ApplicationMaster, map and reduce alike. `auto`: 256 MiB, and "
        "1 GiB on hosts of 128 GB or more.",
    )

    @model_validator(mode="after")
    def _large_enough(self) -> YarnSpec:
        if self.container != "auto" and self.container < SMALLEST.container_mib:
            raise FaultyKeyError(
                f"{self.container} MiB is too small for a JVM of Hadoop; write "
                f"{SMALLEST.container_mib} MiB or more",
                "container",
            )
        return self

    def over(self, sizing: Sizing) -> Sizing:
        return replace(
            sizing,
            container_mib=sizing.container_mib if self.container == "auto" else self.container,
            container_percent=sizing.container_percent if self.share == "auto" else self.share,
        )


class StackSpec(Frozen):
    """Versions and settings that all topologies share."""

    hadoop: HadoopVersion = Field(HADOOP, description="Hadoop version.")
    hbase: HBaseVersion = Field(HBASE, description="HBase version.")
    zookeeper: ZooKeeperVersion | None = Field(
        None,
        description="Version of ZooKeeper's server, for example `3.9.5`. Default: the one that HBase brings.",
    )
    java: JavaFeature | None = Field(
        None,
        description="Feature release of the JDK of daemons, containers and TestDFSIO. Default: `JAVA_HOME`, "
        "or the `java` on PATH.",
    )
    native: BroughtHash | None = Field(
        None,
        description="Hash of Hadoop's native libraries, as `study stack add native TARBALL` prints it. With "
        "them DataNodes read ahead; without, HDDs seek between concurrent reads.",
    )
    jars: BroughtHash | None = Field(
        None,
        description="Hash of further jars for HBase's servers, such as Phoenix, as `study stack add jars` "
        "prints it.",
    )
    tarball: BroughtHash | None = Field(
        None,
        description="Hash of a Hadoop of your own, as `study stack add hadoop TARBALL` prints it. Its jars "
        "take the place of those of Maven Central; `hadoop` is its version.",
    )
    heap: Literal["auto"] = Field(
        "auto", description="JVM heap sizes. `auto` derives them from the memory of the node."
    )
    jit: Jit = Field(
        "full",
        description="JIT compilers of all JVMs, also of clients. `c1`: only the quick one, so that servers "
        "are warm within seconds, but slower than in production: for a first look.",
    )
    yarn: YarnSpec = Field(YarnSpec(), description="YARN's containers.")
    replication: Annotated[int, Field(strict=True, ge=1, le=10)] = Field(
        1, description="`dfs.replication`, at most the number of workers of the smallest cluster."
    )
    base_port: Annotated[int, Field(strict=True, ge=1024, le=32000)] = Field(
        21000, description="First of the consecutive ports that the cluster uses on each address."
    )

    @property
    def versions(self) -> Versions:
        own = ("native", "jars", "tarball", "zookeeper")
        brought = {name: getattr(self, name) or "" for name in own}
        return Versions(self.hadoop, self.hbase, self.java, **brought)


class Stack(Factor[StackLevel]):
    """Versions of Hadoop, HBase and Java."""

    name = "stack"
    in_duets = True
    key = (
        tuple[StackLevel, ...] | None,
        Field(
            None,
            min_length=1,
            description="Versions to compare, for example `[{hadoop: 3.4.1}, {hadoop: 3.4.2}]`. The first "
            "one is the baseline. `study stack list` names the known versions; `study stack add` adds "
            "others.",
        ),
    )

    def pairs(self, given: tuple[StackLevel, ...]) -> Iterator[tuple[str, StackLevel]]:
        for level in given:
            yield level.name, level

    def apply(self, variant: Variant, level: StackLevel) -> Variant:
        return replace(variant, versions=level.over(variant.versions))

    def check(self, study: StudyOfFactors) -> None:
        """Each version of Hadoop runs on its Java."""
        key = ("factors", "stack") if study.factors.stack else ("stack", "java")
        for versions in versions_of(study):
            if versions.java and (fault := fault_of(versions.java, versions.hadoop)):
                raise FaultyKeyError(f"Hadoop {versions.hadoop} {fault}", *key)


STACK = Stack()


def versions_of(study: StudyOfFactors) -> tuple[Versions, ...]:
    """The versions of each level, or those of the study where it compares none."""
    common: Versions = study.stack.versions
    levels = study.factors.of(STACK).values()
    return tuple(level.over(common) for level in levels) or (common,)
