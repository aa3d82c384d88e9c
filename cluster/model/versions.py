"""`Versions`: the Hadoop, HBase and Java of one cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass

HADOOP = "3.4.2"
HBASE = "2.6.4-hadoop3"


@dataclass(frozen=True)
class Versions:
    """`hadoop` and `hbase` as Maven Central names them, for example 2.6.4-hadoop3. `java` is a feature
    release such as 17; None: the Java that the machine uses anyway. `client`: HBase's, of YCSB."""

    hadoop: str = HADOOP
    hbase: str = HBASE
    java: int | None = None
    client: str = HBASE

    def __str__(self) -> str:
        java = f", Java {self.java}" if self.java else ""
        return f"Hadoop {self.hadoop}, HBase {self.hbase}{java}"


VERSIONS = Versions()


def numbers(version: str) -> tuple[int, ...]:
    """(2, 6, 4) of 2.6.4-hadoop3, to compare versions."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))
