"""`Recipe`: what a stack is made from. Its key names the assembled tree in the cache."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from cluster.model.errors import InputError

# Raise it when the shape of the assembled tree changes: old trees are then left alone and not used.
TREE_FORMAT = 1

_HERE = Path(__file__).parent
# YARN's own pages (cluster, node, proxy) are in its jars; those of HDFS and HBase are in none.
_HADOOP_WEBAPPS = ("webapps/hdfs", "webapps/secondary", "webapps/datanode", "webapps/static")
_HBASE_WEBAPPS = ("hbase-webapps/master", "hbase-webapps/regionserver", "hbase-webapps/static")


@dataclass(frozen=True)
class Recipe:
    """`directory` holds pom.xml, the lock jars.sha256 and, where we build a jar ourselves, src/.

    `built` names that jar: it is no third party's and therefore not in the lock.
    `webapps` are empty directories the daemons' web servers look for on the class path.
    """

    name: str
    version: str
    directory: Path
    built: str | None = None
    webapps: tuple[str, ...] = ()

    @property
    def pom(self) -> Path:
        return self.directory / "pom.xml"

    @property
    def lock(self) -> Path:
        return self.directory / "jars.sha256"

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    def key(self) -> str:
        """16 hex digits over the pom, the lock if there is one yet, and the sources of what we build (no
        tests): other content, other tree."""
        shape = f"tree format {TREE_FORMAT}, {' '.join(self.webapps)}\n"
        digest = hashlib.sha256(shape.encode())
        locks = [self.lock] if self.lock.exists() else []
        sources = sorted(p for p in (self.directory / "src" / "main").rglob("*") if p.is_file())
        for path in (self.pom, *locks, *sources):
            content = path.read_bytes()
            name = path.relative_to(self.directory).as_posix()
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()[:16]


RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe("hadoop", "3.4.2", _HERE / "hadoop", webapps=_HADOOP_WEBAPPS),
        Recipe("hbase", "2.6.4-hadoop3", _HERE / "hbase", webapps=_HBASE_WEBAPPS),
        Recipe(
            "ycsb",
            "0.17.0",
            _HERE.parents[1] / "workloads" / "ycsb" / "java",
            built="density-ycsb-hbase-0.17.0.jar",
        ),
    )
}


def recipe_of(name: str) -> Recipe:
    """The recipe registered under `name`; InputError names those that exist."""
    if name not in RECIPES:
        raise InputError(
            f"stack {name!r} does not exist.", "stack", f"use one of {', '.join(RECIPES)}, or all."
        )
    return RECIPES[name]
