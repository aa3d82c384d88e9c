"""Software that no registry has: from a tarball, a folder or jars of the user. It runs on every node.

`study stack add` makes a stack of it, named by a hash of what is in it. A study names that hash, and hosts
and images get the stack as they get jars of Maven Central. Only files of known folders and names are taken;
nothing is unpacked by the names in a tarball.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from density_study.cluster.model.versions import BROUGHT_DIGITS, JARS, NATIVE, Versions
from density_study.cluster.stack.brought.taken import ForeignLinkError, Wanted, taken, unusable
from density_study.cluster.stack.property_names import PROPERTIES, names_in
from density_study.cluster.stack.recipes import recipe_of
from density_study.cluster.stack.stack import locked, stack_home
from density_study.cluster.stack.tree import MANIFEST, assembling, read_tree

HADOOP_LIBRARY = "libhadoop.so"
_LIBRARIES = Wanted(
    "Hadoop's native libraries",
    "name Apache's tarball of the same version, like hadoop-3.4.2.tar.gz, or a folder with libhadoop.so.",
    ("lib/native", "lib/hadoop/lib/native", "hadoop/lib/native"),
    re.compile(r"lib[A-Za-z0-9_.+-]{1,80}\.so[0-9.]{0,20}"),
    b"\x7fELF",
    "library for Linux",
)
_JAR = r"(?!.*-sources\.jar)[A-Za-z0-9][A-Za-z0-9_.+-]{1,120}\.jar"
_PARTS = ("hdfs", "mapreduce", "yarn")
_HADOOP = Wanted(
    "Hadoop",
    "name a tarball like hadoop-3.4.2.tar.gz, the folder that it unpacks to, or a vendor's, like "
    "/opt/cloudera/parcels/CDH or /usr/lib.",
    (
        *(f"share/hadoop/{part}{lib}" for part in ("common", *_PARTS) for lib in ("", "/lib")),
        *(
            f"{above}hadoop{part and f'-{part}'}{lib}"
            for above in ("lib/", "")
            for part in ("", *_PARTS)
            for lib in ("", "/lib")
        ),
    ),
    re.compile(_JAR),
    b"PK\x03\x04",
    "jar",
)
_EXTRA = Wanted(
    "jars for HBase",
    "name jars, or a folder with jars.",
    (),
    re.compile(_JAR),
    b"PK\x03\x04",
    "jar",
)
_VERSION = re.compile(r"hadoop-common-(\d+\.\d+\.\d+(?:[.-](?!tests)\w+)*)\.jar")
_BROKEN = (ValueError, IndexError, KeyError, ET.ParseError, zipfile.BadZipFile, zlib.error, EOFError,
           lzma.LZMAError, RuntimeError)  # fmt: skip
"""The last one: encrypted, or packed in a way that Python does not know."""
_NEEDED = (
    "hadoop-common",
    "hadoop-hdfs",
    "hadoop-yarn-server-resourcemanager",
    "hadoop-mapreduce-client-app",
)


def bring_native(path: Path) -> Versions:
    """The libraries of a tarball or folder, in the cache, by the hash that a study names. InputError if there
    are none that can be used."""
    libraries = taken(path, _LIBRARIES)
    if HADOOP_LIBRARY not in libraries:
        raise unusable(path, _LIBRARIES, f"it has no {HADOOP_LIBRARY} in lib/native")
    return _keep_native(libraries)


def _keep_native(libraries: Mapping[str, bytes]) -> Versions:
    content = _Content(libraries)
    versions = Versions(native=content.version)
    _keep(NATIVE, content.version, versions, content)
    return versions


def bring_hadoop(path: Path, report: Callable[[str], object] = print) -> Versions:
    """Hadoop's jars of a tarball or folder, in the place of those of Maven Central, and its native libraries
    if it has some. InputError if they are not Hadoop's. `report` gets the reason why there are no libraries:
    those of vendors may be links to the system's."""
    jars = taken(path, _HADOOP)
    for name in _NEEDED:
        if not any(jar.startswith(f"{name}-") for jar in jars):
            raise unusable(path, _HADOOP, f"it has no {name} in share/hadoop")
    found = [match[1] for jar in jars if (match := _VERSION.fullmatch(jar))]
    if len(found) != 1:
        raise unusable(
            path, _HADOOP, "it must have exactly one jar named like hadoop-common-3.4.2.jar"
        )
    content = _Content(jars)
    versions = Versions(hadoop=found[0], tarball=content.version)
    try:
        libraries = taken(path, _LIBRARIES)
    except ForeignLinkError as error:
        libraries = {}
        report(f"{error.what} Hadoop is taken without them.")
    try:
        _keep("hadoop", found[0], versions, content)
    except _BROKEN as error:
        raise unusable(path, _HADOOP, f"a jar of it cannot be read: {error}") from error
    # a distribution without them is usable, and the record says so
    native = _keep_native(libraries).native if HADOOP_LIBRARY in libraries else ""
    return replace(versions, native=native)


def bring_jars(paths: Sequence[Path], properties: Mapping[str, str]) -> Versions:
    """Jars behind those of HBase's servers, and the properties of hbase-site.xml that they need, like
    coprocessors. They come from the user's command line, not from a study."""
    jars: dict[str, bytes] = {}
    for path in paths:
        jars |= taken(path, _EXTRA)
    content = _Content(jars, properties)
    versions = Versions(jars=content.version)
    _keep(JARS, content.version, versions, content)
    return versions


def site_properties(home: Path) -> dict[str, str]:
    """The properties of hbase-site.xml that `bring_jars` kept with the jars at `home`."""
    found: dict[str, str] = json.loads((home / MANIFEST).read_text())["hbase_site"]
    return found


@dataclass(frozen=True)
class _Content:
    """Name -> content of each file, and properties of hbase-site.xml. Each file is hashed once."""

    files: Mapping[str, bytes]
    properties: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def sums(self) -> dict[str, str]:
        return {name: hashlib.sha256(self.files[name]).hexdigest() for name in sorted(self.files)}

    @cached_property
    def sha256(self) -> str:
        lines = [f"{own}  {name}\n" for name, own in self.sums.items()]
        lines += [f"{name}={value}\n" for name, value in sorted(self.properties.items())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    @property
    def version(self) -> str:
        return self.sha256[:BROUGHT_DIGITS]


def _keep(name: str, version: str, versions: Versions, content: _Content) -> None:
    """<home>/lib, <home>/manifest.json, and of Hadoop what daemons and checks look for."""
    home = stack_home(name, versions)
    with locked(home):
        if read_tree(home) == content.sha256:
            return
        with assembling(home) as aside:
            (aside / "lib").mkdir()
            for file in content.sums:
                (aside / "lib" / file).write_bytes(content.files[file])
            manifest: dict[str, Any] = {
                "name": name,
                "version": version,
                "jars_sha256": content.sha256,
                "jars": [
                    {"name": file, "bytes": len(content.files[file]), "sha256": own}
                    for file, own in content.sums.items()
                ],
            }
            if name == JARS:
                manifest["hbase_site"] = dict(content.properties)
            (aside / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
            if name == "hadoop":
                for folder in recipe_of(name, versions).webapps:
                    (aside / folder).mkdir(parents=True)
                found = names_in(aside / "lib")
                (aside / PROPERTIES).write_text("".join(f"{one}\n" for one in found))
