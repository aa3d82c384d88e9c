"""`Versions`: the Hadoop, HBase and Java of one cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass

from density_study.cluster.model.errors import InputError

HADOOP = "3.4.2"
HBASE = "2.6.4-hadoop3"
ZOOKEEPER = "zookeeper"
"""A stack of its own, where a study names its version: HBase brings one."""
NATIVE, JARS = "native", "jars"
"""Names of stacks that a user brought: native libraries of Hadoop, further jars of HBase's servers."""
BROUGHT_DIGITS = 12


@dataclass(frozen=True)
class Versions:
    """`hadoop` and `hbase` as Maven Central names them, for example 2.6.4-hadoop3. `java` is a feature
    release such as 17; None: the Java that the machine uses anyway. `client`: HBase's, of YCSB.
    `zookeeper`: its server's; empty: HBase brings one. `native`,
    `jars`, `tarball`: hashes of what the user brought: native libraries, further jars for HBase, and Hadoop's
    own jars; empty: nothing."""

    hadoop: str = HADOOP
    hbase: str = HBASE
    java: int | None = None
    client: str = HBASE
    native: str = ""
    jars: str = ""
    tarball: str = ""
    zookeeper: str = ""

    def __str__(self) -> str:
        java = f", Java {self.java}" if self.java else ""
        zookeeper = f", ZooKeeper {self.zookeeper}" if self.zookeeper else ""
        words = {"native libraries": self.native, "jars": self.jars, "tarball": self.tarball}
        brought = "".join(f", {word} {hash_}" for word, hash_ in words.items() if hash_)
        return f"Hadoop {self.hadoop}, HBase {self.hbase}{zookeeper}{java}{brought}"

    def brought(self, stack: str) -> str:
        """The hash of a stack that the user brought; empty for any other stack."""
        return {NATIVE: self.native, JARS: self.jars, "hadoop": self.tarball}.get(stack, "")

    def with_brought(self, stacks: tuple[str, ...]) -> tuple[str, ...]:
        """The stacks of a node, with native libraries beside Hadoop, and beside HBase further jars and a
        ZooKeeper."""
        beside = {NATIVE: ("hadoop", self.native), JARS: ("hbase", self.jars),
                  ZOOKEEPER: ("hbase", self.zookeeper)}  # fmt: skip
        return (*stacks, *(name for name, (of, own) in beside.items() if own and of in stacks))


VERSIONS = Versions()


def numbers(version: str) -> tuple[int, ...]:
    """(2, 6, 4) of 2.6.4-hadoop3, to compare versions."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))


_RELEASE = r"\d{1,9}(?:\.\d{1,9}){2}"
_APACHE = re.compile(
    rf"{_RELEASE}(?:-(?:alpha|beta|rc|hadoop|snapshot)-?\d{{0,9}}){{0,4}}", re.IGNORECASE
)
# Of Cloudera (CDH, CDP, HDP), Amazon, MapR, Microsoft, Huawei, ODP, ...: a fourth number, or words behind.
_LONGER = re.compile(rf"{_RELEASE}(?:[.-]\w{{1,40}}){{1,9}}")


def vendor_fault(version: str) -> str | None:
    """Why a vendor's build cannot be named: its jars are not on Maven Central, under any name."""
    if not _LONGER.fullmatch(version) or _APACHE.fullmatch(version):
        return None
    known = "CDH, CDP, HDP, EMR, MapR, ..."
    return f"{version} is a vendor's build; those ({known}) are not on Maven Central"


def check_vendor(version: str, where: str) -> None:
    """InputError for a vendor's build."""
    if fault := vendor_fault(version):
        raise InputError(
            f"{fault}.",
            where,
            "use Apache Hadoop 3 and Apache HBase 2; `existing` measures a vendor's running cluster.",
        )
