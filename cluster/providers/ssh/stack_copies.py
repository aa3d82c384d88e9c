"""Stacks on hosts: their folders there, and the archives that the controller sends."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePath

from density_study.cluster.providers.ssh.host_stacks import CLASS_LIST, SUMS
from density_study.cluster.stack import Stack, classpath
from density_study.cluster.stack.archive import class_list
from density_study.cluster.stack.store_software import UNPACKED

_COPIED = ("lib/", f"{UNPACKED}/", "webapps/", "hbase-webapps/")
README = """\
density-study: Hadoop, HBase, other stores and YCSB, copied here so that the next study need not do it again.
stacks/ holds one folder per version and Java; builds/ is empty when no study runs.
All of it may be removed when no study runs; the next one copies it again.
"""


@dataclass(frozen=True)
class StackCopy:
    """A stack of the controller, its home on the hosts, and the Java and the name of its class-data archive,
    which is empty if it has none. The home's name holds a hash of its content and the Java's version."""

    stack: Stack
    home: PurePath
    java: str
    archive: str

    @property
    def sums(self) -> str:
        """For every jar, and of the programs unpacked from it, as sha256sum writes them."""
        home = self.stack.home
        manifest = json.loads((home / "manifest.json").read_text())
        lines = [f"{jar['sha256']}  lib/{jar['name']}" for jar in manifest["jars"]]
        for path in (home / UNPACKED).rglob("*"):
            if path.is_file():
                sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
                lines.append(f"{sha256}  {path.relative_to(home)}")
        return "".join(f"{line}\n" for line in sorted(lines))

    @property
    def jars(self) -> str:
        """The class path of its class-data archive."""
        return ":".join(classpath(self.stack, self.home)[:-1])

    def aside(self, tag: str) -> PurePath:
        """Where the build unpacks it first."""
        return self.home.with_name(f".{self.home.name}.{tag.replace('/', '-')}")

    def write_tar(self, to: Path) -> Path:
        """Jars, programs, empty web folders, class list, sums. Times are kept: class archives check them."""
        path = to / f"{self.stack.name}.tar"
        with tarfile.open(path, "w") as tar:
            for part in sorted(self.stack.home.iterdir()):
                if part.is_dir():
                    tar.add(part, part.name, filter=_owned_by_root)
            if self.archive:
                add_text(tar, CLASS_LIST, class_list(self.stack))
            add_text(tar, SUMS, self.sums)
        return path


def _owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if entry.name.count("/") == 0 or entry.name.startswith(_COPIED):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry
    return None


def add_text(tar: tarfile.TarFile, name: str, text: str, mode: int = 0o644, owner: int = 0) -> None:
    content = text.encode()
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uid, entry.gid, entry.size = mode, owner, owner, len(content)
    tar.addfile(entry, io.BytesIO(content))
