"""`Recipe`: what a stack is made from. Its key names the assembled tree in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from density_study.cluster.stack.artifact import Artifact
from density_study.cluster.stack.cache import cache_root

# Raise it when the shape of the assembled tree changes: old trees are then left alone and not used.
TREE_FORMAT = 3

_HERE = Path(__file__).resolve().parent
LOCKS = "locks"


@dataclass(frozen=True)
class Recipe:
    """`directory` holds pom.xml, the shipped locks and, where we build a jar ourselves, src/.

    `built` names that jar: it is our own and therefore not in the lock.
    `webapps` are empty directories the daemons' web servers look for on the class path.
    `properties` are those of the pom that determine the versions. `shared` are sources of another recipe
    that are compiled too. `tests` are the unit tests of what we build, in a checkout.
    """

    name: str
    version: str
    directory: Path
    built: str | None = None
    webapps: tuple[str, ...] = ()
    lock_name: str = "jars.sha256"
    properties: Mapping[str, str] = field(default_factory=dict)
    shared: tuple[Path, ...] = ()
    tests: Path = _HERE

    @property
    def pom(self) -> Path:
        return self.directory / "pom.xml"

    @property
    def shipped_lock(self) -> Path:
        return self.directory / self.lock_name

    @property
    def own_artifact(self) -> Artifact:
        """The jar that we build."""
        assert self.built is not None
        name = self.built.removesuffix(f"-{self.version}.jar")
        return Artifact(
            self.built, "org.densitystudy", name, self.version, licences=("Apache-2.0",)
        )

    @property
    def tests_lock(self) -> Path:
        """The lock of the jars that only unit tests need."""
        return self.directory / "tests.sha256"

    @property
    def sources(self) -> list[Path]:
        """Java sources of the jar that we build."""
        return [*_files(self.directory / "src" / "main"), *self.shared]

    @property
    def own_lock(self) -> Path:
        """Where `study stack add` writes the lock of a version that is not shipped."""
        return cache_root() / LOCKS / self.name / Path(self.lock_name).name

    @property
    def lock(self) -> Path:
        """The lock in force; it may be missing."""
        own = self.own_lock
        return own if own.exists() and not self.shipped_lock.exists() else self.shipped_lock

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    def key(self) -> str:
        """16 hex digits over the pom and its properties, the lock if there is one yet, and the sources of
        what we build (no tests): other content, other tree."""
        given = "".join(f"{name}={value}\n" for name, value in sorted(self.properties.items()))
        shape = f"tree format {TREE_FORMAT}, {' '.join(self.webapps)}\n{given}"
        digest = hashlib.sha256(shape.encode())
        for path in (self.pom, *_files(self.directory / "src" / "main")):
            _add(digest.update, path.relative_to(self.directory).as_posix(), path)
        for path in self.shared:
            _add(digest.update, path.name, path)
        if self.lock.exists():
            _add(digest.update, self.lock_name, self.lock)
        return digest.hexdigest()[:16]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _add(update: Callable[[bytes], None], name: str, path: Path) -> None:
    content = path.read_bytes()
    update(f"{name} {len(content)}\n".encode() + content)
