"""A cluster of others whose daemons say that they are a vendor's build: the same code, by another version."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

from density_study.cluster.stack import classpath, ensure
from tests.live.secure.native_hadoop import native_library
from tests.live.support.foreign import ForeignCluster, running

HADOOP_SAYS, HBASE_SAYS = "3.1.1.7.1.9.0-387", "2.4.17.7.1.9.0-387"
"""As CDP 7.1.9 does."""
_INFO = "common-version-info.properties"
_DEFAULTS = "hbase-default.xml"
_HBASE = """package org.apache.hadoop.hbase;
public final class Version {{
  public static final String version = new String("{version}");
  public static final String revision = new String("vendor");
  public static final String user = new String("vendor");
  public static final String date = new String("Thu Nov 26 00:00:00 UTC 2026");
  public static final String url = new String("https://example.org");
  public static final String srcChecksum = new String("0");
}}
"""


class VendorCluster(ForeignCluster):
    """`patch`, first on the class path of every daemon, has what they read their version from."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.patch = root / "patch"
        self.patch.mkdir()
        (jar,) = (ensure("hadoop").home / "lib").glob("hadoop-common-[0-9].[0-9].[0-9].jar")
        with ZipFile(jar) as archive:
            lines = archive.read(_INFO).decode().splitlines()
        kept = [line for line in lines if not line.startswith("version=")]
        (self.patch / _INFO).write_text("\n".join([*kept, f"version={HADOOP_SAYS}", ""]))
        (jar,) = (ensure("hbase").home / "lib").glob("hbase-common-[0-9]*.jar")
        with ZipFile(jar) as archive:  # HBase compares the version of its defaults with its own
            defaults = archive.read(_DEFAULTS).decode()
        own = jar.stem.removeprefix("hbase-common-")
        (self.patch / _DEFAULTS).write_text(defaults.replace(own, HBASE_SAYS))
        source = root / "Version.java"
        source.write_text(_HBASE.format(version=HBASE_SAYS))
        javac = [f"{self.java.home}/bin/javac", "-d", str(self.patch), str(source)]
        subprocess.run(javac, check=True, capture_output=True)

    def parcel(self) -> Path:
        """A folder as the vendor installs it, with the client's jars and native libraries."""
        home = self.root / "CDH" / "lib" / "hadoop"
        (home / "lib").mkdir(parents=True)
        for jar in (ensure("hadoop").home / "lib").iterdir():
            own = re.fullmatch(r"(hadoop-common-)\d[\d.]+\.jar", jar.name)
            (home / "lib" / (f"{own[1]}{HADOOP_SAYS}.jar" if own else jar.name)).symlink_to(jar)
        native_library(home / "native").rename(home / "lib" / "native")
        return self.root / "CDH"

    def _argv(self, stack: str, main: str, *words: str) -> list[str]:
        argv = super()._argv(stack, main, *words)
        if stack != "ycsb":  # its clients are the administrators' own
            at = argv.index("-cp") + 1
            argv[at] = ":".join((str(self.patch), *classpath(ensure(stack)), str(self.conf)))
        return argv


@contextmanager
def vendor_cluster(root: Path) -> Iterator[VendorCluster]:
    with running(VendorCluster(root)) as cluster:
        yield cluster
