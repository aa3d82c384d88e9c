"""Hadoop's native library, which a NodeManager with Kerberos needs to serve the outputs of maps.

Hadoop's own artifacts on Maven Central have none, but Trino's has; only the library is taken from it.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path

from density_study.cluster.stack import find_java
from density_study.cluster.stack.maven import download, find_maven

ARTIFACT, VERSION = "hadoop-apache", "3.3.5-3"
JAR_SHA256 = "2d6fb96cb86f0411f1d520012b0fe2fc0215dcf920108e316f3e31b435dcc88d"
LIBRARY = "nativelib/Linux-amd64/libhadoop.so"
POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.densitystudy</groupId><artifactId>native</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>io.trino.hadoop</groupId><artifactId>{ARTIFACT}</artifactId><version>{VERSION}</version>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
  </dependency></dependencies>
</project>
"""


def native_library(folder: Path) -> Path:
    """The folder with libhadoop.so, below `folder`."""
    with tempfile.TemporaryDirectory() as scratch:
        pom = Path(scratch) / "wanted.xml"
        pom.write_text(POM)
        download(find_maven("hadoop"), find_java(), pom, folder, Path(scratch) / "build", {})
    jar = folder / f"{ARTIFACT}-{VERSION}.jar"
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == JAR_SHA256
    with zipfile.ZipFile(jar) as archive:
        return Path(archive.extract(LIBRARY, folder)).parent
