"""Software that no registry has: from a tarball, a folder or jars of the user. It runs on every node.

`study stack add` makes a stack of it, named by a hash of what is in it. A study names that hash, and hosts
and images get the stack as they get jars of Maven Central. Only files of known folders and names are taken;
nothing is unpacked by the names in a tarball.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from density_study.cluster.model.versions import BROUGHT_DIGITS, JARS, NATIVE, Versions
from density_study.cluster.stack.brought.taken import Wanted, taken, unusable
from density_study.cluster.stack.property_names import PROPERTIES, names_in
from density_study.cluster.stack.recipes import recipe_of
from density_study.cluster.stack.stack import locked, stack_home
from density_study.cluster.stack.tree import MANIFEST, assembling, read_tree

HADOOP_LIBRARY = "libhadoop.so"
_LIBRARIES = Wanted(
    "Hadoop's native libraries",
    "name Apache's tarball of the same version, like hadoop-3.4.2.tar.gz, or a folder with libhadoop.so.",
    ("lib/native",),
    re.compile(r"lib[A-Za-z0-9_.+-]{1,80}\.so[0-9.]{0,20}"),
    b"\x7fELF",
    "library for Linux",
)
_JAR = r"(?!.*-sources\.jar)[A-Za-z0-9][A-Za-z0-9_.+-]{1,120}\.jar"
_HADOOP = Wanted(
    "Hadoop",
    "name a tarball like hadoop-3.4.2.tar.gz, or the folder that it unpacks to.",
    tuple(
        f"share/hadoop/{part}{lib}"
        for part in ("common", "hdfs", "mapreduce", "yarn")
        for lib in ("", "/lib")
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
_VERSION = re.compile(r"hadoop-common-(\d+\.\d+\.\d+)\.jar")
_BROKEN = (ValueError, IndexError, KeyError, ET.ParseError, zipfile.BadZipFile, zlib.error)
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
    version = _hash(libraries)
    versions = Versions(native=version)
    _keep(NATIVE, version, versions, libraries)
    return versions


def bring_hadoop(path: Path) -> Versions:
    """Hadoop's jars of a tarball or folder, in the place of those of Maven Central, and its native libraries
    if it has some. InputError if they are not Hadoop's."""
    jars = taken(path, _HADOOP)
    for name in _NEEDED:
        if not any(jar.startswith(f"{name}-") for jar in jars):
            raise unusable(path, _HADOOP, f"it has no {name} in share/hadoop")
    found = [match[1] for jar in jars if (match := _VERSION.fullmatch(jar))]
    if len(found) != 1:
        raise unusable(
            path, _HADOOP, "it must have exactly one jar named like hadoop-common-3.4.2.jar"
        )
    versions = Versions(hadoop=found[0], tarball=_hash(jars))
    try:
        _keep("hadoop", found[0], versions, jars)
    except _BROKEN as error:
        raise unusable(path, _HADOOP, f"a jar of it cannot be read: {error}") from error
    libraries = taken(path, _LIBRARIES)
    # a distribution without them is usable, and the record says so
    native = _keep_native(libraries).native if HADOOP_LIBRARY in libraries else ""
    return Versions(hadoop=found[0], tarball=versions.tarball, native=native)


def bring_jars(paths: Sequence[Path], properties: Mapping[str, str]) -> Versions:
    """Jars behind those of HBase's servers, and the properties of hbase-site.xml that they need, like
    coprocessors. They come from the user's command line, not from a study."""
    jars: dict[str, bytes] = {}
    for path in paths:
        jars |= taken(path, _EXTRA)
    version = _hash(jars, properties)
    versions = Versions(jars=version)
    _keep(JARS, version, versions, jars, {"hbase_site": dict(properties)})
    return versions


def site_properties(home: Path) -> dict[str, str]:
    """Those that `bring_jars` kept with the jars at `home`."""
    found: dict[str, str] = json.loads((home / MANIFEST).read_text())["hbase_site"]
    return found


def _hash(files: Mapping[str, bytes], properties: Mapping[str, str] | None = None) -> str:
    return _sha256(files, properties or {})[:BROUGHT_DIGITS]


def _sha256(files: Mapping[str, bytes], properties: Mapping[str, str]) -> str:
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    lines += [f"{name}={value}\n" for name, value in sorted(properties.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _keep(
    name: str,
    version: str,
    versions: Versions,
    files: Mapping[str, bytes],
    more: Mapping[str, dict[str, str]] | None = None,
) -> None:
    """<home>/lib, <home>/manifest.json, and of Hadoop what daemons and checks look for."""
    home = stack_home(name, versions)
    sha256 = _sha256(files, (more or {}).get("hbase_site", {}))
    with locked(home):
        if read_tree(home) == sha256:
            return
        facts = []
        with assembling(home) as aside:
            (aside / "lib").mkdir()
            for file, content in sorted(files.items()):
                (aside / "lib" / file).write_bytes(content)
                own = hashlib.sha256(content).hexdigest()
                facts.append({"name": file, "bytes": len(content), "sha256": own})
            manifest = {"name": name, "version": version, "jars_sha256": sha256, "jars": facts}
            (aside / MANIFEST).write_text(json.dumps({**manifest, **(more or {})}, indent=1) + "\n")
            if name not in (NATIVE, JARS):
                for folder in recipe_of(name, versions).webapps:
                    (aside / folder).mkdir(parents=True)
                found = names_in(aside / "lib")
                (aside / PROPERTIES).write_text("".join(f"{one}\n" for one in found))
