"""`Stacks`: the software one cluster is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cluster.render.blueprint import InstallDirs
from cluster.stack import Java, Stack, classpath, ensure_all, find_java
from cluster.stack.archive import ensure_archives


@dataclass(frozen=True)
class Stacks:
    """Java and the two trees every node of a cluster uses."""

    java: Java
    hadoop: Stack
    hbase: Stack

    @property
    def homes(self) -> InstallDirs:
        return InstallDirs(
            java=self.java.home,
            hadoop=self.hadoop.home,
            hbase=self.hbase.home,
            hadoop_classpath=classpath(self.hadoop),
            hbase_classpath=classpath(self.hbase),
        )

    def disclose(self) -> dict[str, Any]:
        """Versions, and one hash over all jars of each tree."""
        return {
            "java": self.java.version,
            **{
                stack.name: {"version": stack.version, "jars_sha256": stack.jars_sha256}
                for stack in (self.hadoop, self.hbase)
            },
        }


def ensure_stacks() -> Stacks:
    """Java 17, the stacks and their class-data archives (YCSB's too), made if not in the cache.

    InputError if they are not to be had.
    """
    java = find_java()
    hadoop, hbase, ycsb = ensure_all(("hadoop", "hbase", "ycsb"))
    ensure_archives((hadoop, hbase, ycsb), java)
    return Stacks(java, hadoop, hbase)
