"""The names of the properties that a version of Hadoop or HBase knows.

A name that is nowhere in the code has no effect: a study that sets it would compare two equal clusters. The
default files (hdfs-default.xml) list only some of the names, so the constants of the classes are also read.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

PROPERTIES = "properties.txt"
"""In a stack's tree: one name per line."""
_OURS = re.compile(r"(hadoop|hbase)-(?!shaded|protocol|unsafe|third).*\.jar")
_NAME = re.compile(rb"[a-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*(?:\.[A-Za-z0-9_-]+)+")
_LONGEST = 120
_MOST_BYTES = 2**29
"""For what is read of a jar, unpacked: those of Hadoop and HBase have a tenth of it, and one of others may
have a thousand times its size."""
_UTF8, _LONG, _DOUBLE = 1, 5, 6
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4,
          19: 2, 20: 2}  # fmt: skip
"""Bytes of each kind of constant after its tag (The Java Virtual Machine Specification, 4.4)."""


def names_in(lib: Path) -> list[str]:
    """Every text in the jars of Hadoop and HBase that looks like the name of a property, sorted."""
    names: set[str] = set()
    for jar in sorted(lib.iterdir()):
        if _OURS.fullmatch(jar.name) and zipfile.is_zipfile(jar):
            names.update(_in_jar(jar))
    return sorted(names)


def read_names(home: Path) -> frozenset[str]:
    """The names that an assembled tree knows."""
    return frozenset((home / PROPERTIES).read_text().split())


def _in_jar(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as jar:
        read = [one for one in jar.infolist() if one.filename.endswith((".class", "-default.xml"))]
        if sum(one.file_size for one in read) > _MOST_BYTES:
            raise ValueError(f"{path.name} unpacks to more than {_MOST_BYTES >> 20} MiB")
        for entry in read:
            if entry.filename.endswith(".class"):
                yield from _in_class(jar.read(entry))
            else:
                yield from (name.text or "" for name in ET.fromstring(jar.read(entry)).iter("name"))


def _in_class(data: bytes) -> Iterator[str]:
    """Texts of the constant pool that are names."""
    count, at, index = int.from_bytes(data[8:10], "big"), 10, 1
    while index < count:
        tag = data[at]
        if tag == _UTF8:
            length = int.from_bytes(data[at + 1 : at + 3], "big")
            text = data[at + 3 : at + 3 + length]
            if length <= _LONGEST and _NAME.fullmatch(text):
                yield text.decode()
            at += 3 + length
        else:
            at += 1 + _SIZES[tag]
        index += 2 if tag in (_LONG, _DOUBLE) else 1  # those two take two places
