"""Command lines of GATK: a JVM on its jars, as its own launcher starts it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HEAP_MIB = 1024
_MAIN = "org.broadinstitute.hellbender.Main"
_LAUNCHERS = (
    "-Dsamjdk.use_async_io_read_samtools=false",
    "-Dsamjdk.use_async_io_write_samtools=true",
    "-Dsamjdk.use_async_io_write_tribble=false",
    "-Dsamjdk.compression_level=2",
)
"""What GATK's launcher sets."""
_SPARKS = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
    "sun.util.calendar",
)  # fmt: skip
"""Packages of the JDK that its Spark reaches into."""


@dataclass(frozen=True)
class Gatk:
    """java: the program. home: GATK's tree, with its jars in lib. scratch: folder for temporary files."""

    java: str
    home: Path
    scratch: str

    def argv(self, tool: str, *arguments: str) -> list[str]:
        jars = sorted(str(path) for path in (self.home / "lib").glob("*.jar"))
        return [
            self.java,
            f"-Xmx{HEAP_MIB}m",
            "-XX:+UseSerialGC",  # as many threads as the study gives it, and no others
            "-XX:-UsePerfData",  # else it leaves a folder in /tmp
            f"-Djava.io.tmpdir={self.scratch}",
            *_LAUNCHERS,
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _SPARKS),
            "-cp",
            ":".join(jars),
            _MAIN,
            tool,
            *arguments,
        ]
