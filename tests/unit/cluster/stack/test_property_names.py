"""The names of properties are found in classes and default files of Hadoop and HBase alone."""

from __future__ import annotations

import zipfile
from pathlib import Path

from density_study.cluster.stack.property_names import PROPERTIES, names_in, read_names

DEFAULTS = (
    "<configuration><property><name>dfs.of.the.defaults</name><value/></property></configuration>"
)


def class_file(*texts: str) -> bytes:
    """A class whose constant pool holds the texts, a long (which takes two places) and an integer."""
    pool = b"".join(b"\x01" + len(t).to_bytes(2, "big") + t.encode() for t in texts[:1])
    pool += b"\x05" + bytes(8) + b"\x03" + bytes(4)
    pool += b"".join(b"\x01" + len(t).to_bytes(2, "big") + t.encode() for t in texts[1:])
    return b"\xca\xfe\xba\xbe\x00\x00\x00\x3d" + (len(texts) + 4).to_bytes(2, "big") + pool


def jar(path: Path, *texts: str, defaults: str = "") -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("org/apache/A.class", class_file(*texts))
        if defaults:
            made.writestr("hdfs-default.xml", defaults)


def test_names_come_from_constants_and_defaults(tmp_path: Path) -> None:
    jar(tmp_path / "hadoop-hdfs-3.4.2.jar", "dfs.a.b-c", "Not a name", "dfs.d", defaults=DEFAULTS)
    jar(tmp_path / "hbase-server-2.6.4.jar", "hbase.x.y", "hbase..z", ".hbase")
    assert names_in(tmp_path) == ["dfs.a.b-c", "dfs.d", "dfs.of.the.defaults", "hbase.x.y"]


def test_other_jars_do_not_count(tmp_path: Path) -> None:
    jar(tmp_path / "guava-33.jar", "com.google.common")
    jar(tmp_path / "hbase-shaded-netty-4.1.jar", "io.netty.x")
    (tmp_path / "hadoop-torn-1.jar").write_bytes(b"no zip")
    assert names_in(tmp_path) == []


def test_an_assembled_tree_keeps_its_names(tmp_path: Path) -> None:
    (tmp_path / PROPERTIES).write_text("dfs.a\nhbase.b\n")
    assert read_names(tmp_path) == {"dfs.a", "hbase.b"}
