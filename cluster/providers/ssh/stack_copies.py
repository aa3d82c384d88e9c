"""Stacks on hosts: their folders, and the variables with which the playbook copies and verifies them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from cluster.stack import Stack, classpath
from cluster.stack.archive import CLASSES
from cluster.stack.recipe import recipe_of

SUMS = "SHA256SUMS"
CLASS_LIST = "classes.txt"
WHOSE = """\
density-study: Hadoop, HBase and YCSB, copied here so that the next study need not copy them again.
stacks/ holds one folder a version and Java; builds/ is empty when no study runs.
All of it may be removed when no study runs; the next one copies it again.
"""


@dataclass(frozen=True)
class StackCopy:
    """A stack of the controller, and its home on the hosts. The name holds a hash of its content and the
    Java version of its class-data archive."""

    stack: Stack
    home: PurePath

    @property
    def jars(self) -> str:
        """The class path an archive binds to: the same order as the daemons', folders left out."""
        lib = sorted(jar.name for jar in (self.stack.home / "lib").iterdir())
        return ":".join(f"{self.home}/lib/{name}" for name in lib)

    @property
    def sums(self) -> str:
        """As sha256sum writes them: every jar, the class list, the manifest's own copy left out."""
        manifest = json.loads((self.stack.home / "manifest.json").read_text())
        lines = [f"{jar['sha256']}  lib/{jar['name']}" for jar in manifest["jars"]]
        return "".join(f"{line}\n" for line in sorted(lines))

    def to_vars(self, tag: str, tar: Path | None = None) -> dict[str, Any]:
        """For the playbook; `aside` is where it is unpacked first."""
        aside = self.home.with_name(f".{self.home.name}.{tag.replace('/', '-')}")
        return {
            "name": self.stack.name,
            "home": str(self.home),
            "aside": str(aside),
            "jars": self.jars,
            "tar": str(tar or ""),
        }

    def write_tar(self, to: Path) -> Path:
        """Jars, empty web folders, class list and sums. Times are kept: class archives look at them."""
        path = to / f"{self.stack.name}.tar"
        with tarfile.open(path, "w") as tar:
            for part in sorted(self.stack.home.iterdir()):
                if part.is_dir():
                    tar.add(part, part.name, filter=_nobodys)
            classes = gzip.decompress((recipe_of(self.stack.name).directory / CLASSES).read_bytes())
            _add(tar, CLASS_LIST, classes)
            _add(tar, SUMS, self.sums.encode())
        return path


def copied(stack: Stack, work: PurePath, java_version: str) -> StackCopy:
    return StackCopy(stack, work / "stacks" / f"{stack.home.name}-java{java_version}")


def place_of(path: PurePath | str, copies: Sequence[StackCopy]) -> str:
    """A host's path for a path in the controller's stacks; other paths are returned unchanged."""
    for copy in copies:
        if PurePath(path).is_relative_to(copy.stack.home):
            return str(copy.home / PurePath(path).relative_to(copy.stack.home))
    return str(path)


def classpath_there(copy: StackCopy) -> tuple[str, ...]:
    return tuple(place_of(entry, (copy,)) for entry in classpath(copy.stack))


def work_folder(user: str) -> PurePosixPath:
    """The program's folder on every host of that user; the user's alone."""
    return PurePosixPath(f"/var/tmp/density-study-{user}")


def missing(copies: Sequence[StackCopy], there: Mapping[str, str | None]) -> list[StackCopy]:
    """Copies whose checksums are missing or different on a host. `there`: home -> checksum file."""
    return [copy for copy in copies if there.get(str(copy.home)) != copy.sums]


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if entry.name.count("/") == 0 or entry.name.startswith(("lib/", "webapps/", "hbase-webapps/")):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry
    return None


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o644
    tar.addfile(entry, io.BytesIO(content))
