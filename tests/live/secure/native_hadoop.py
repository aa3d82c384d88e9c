"""Hadoop's native library, which a NodeManager with Kerberos needs to serve the outputs of maps.

Hadoop's own artifacts on Maven Central have none, but Trino's has; only the library is taken from it.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from density_study.cluster.stack import find_java
from density_study.cluster.stack.maven import find_maven, run_maven

ARTIFACT, VERSION = "hadoop-apache", "3.3.5-3"
JAR_SHA256 = "2d6fb96cb86f0411f1d520012b0fe2fc0215dcf920108e316f3e31b435dcc88d"
LIBRARY = "nativelib/Linux-amd64/libhadoop.so"
POM = Path(__file__).parents[3] / "workloads/ycsb/java/pom.xml"
"""Pins the version of the plugin that copies."""


def native_library(folder: Path) -> Path:
    """The folder with libhadoop.so, below `folder`."""
    wanted = f"-Dartifact=io.trino.hadoop:{ARTIFACT}:{VERSION}"
    run_maven(find_maven("hadoop"), find_java(), POM, "dependency:copy", wanted,
              f"-DoutputDirectory={folder}")  # fmt: skip
    jar = folder / f"{ARTIFACT}-{VERSION}.jar"
    assert hashlib.sha256(jar.read_bytes()).hexdigest() == JAR_SHA256
    with zipfile.ZipFile(jar) as archive:
        return Path(archive.extract(LIBRARY, folder)).parent
