"""Maven: finds and runs it; its errors carry Maven's own last lines."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack.java import Java
from density_study.cluster.state.shell import cleaned

_TAIL_LINES = 15
# Maven lives for seconds: the first compiler and the simplest collector start it fastest.
# Warnings and errors only. Maven's own -q would hide the compiler warnings that -Werror failed on.
_QUIET = ("-Dstyle.color=never", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_NETWORK = ("-Dhttp.", "-Dhttps.", "-DsocksProxy", "-Djava.net.", "-Djavax.net.ssl.")
"""Beginnings of the properties of a JVM that choose a proxy, or the certificates that it trusts."""


def find_maven(stack: str) -> Path:
    """`mvn` on PATH. Raises InputError when there is none; `stack` is what it was wanted for."""
    command = shutil.which("mvn")
    if command is None:
        raise InputError(
            f"the {stack} stack is not in the cache, and no mvn is on PATH to assemble it.",
            "PATH",
            "install Maven 3.6.3 or later (Debian: apt install maven), or bring a filled cache "
            "and name it in DENSITY_STUDY_CACHE.",
        )
    return Path(command)


def run_maven(maven: Path, java: Java, pom: Path, *arguments: str) -> None:
    """Run `mvn` on `pom`, checksums strict. Raises InputError with the tail of Maven's output."""
    argv = [*_dies_with_us(), str(maven), "-B", "-C", *_QUIET, "-f", str(pom), *arguments]
    environ = {
        **cleaned(os.environ),
        "JAVA_HOME": str(java.home),
        "MAVEN_OPTS": _options(os.environ),
    }
    done = subprocess.run(
        argv, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise InputError(
            f"Maven failed with exit code {done.returncode}; its last lines:\n"
            f"{_tail(done.stdout + done.stderr)}\n",
            str(pom),
            "fix the problem that Maven names (often the network, a proxy or a mirror in its settings.xml), "
            "then try again; downloaded files are kept.",
        )


def _options(environ: Mapping[str, str]) -> str:
    """Our JVM options, and what the user's MAVEN_OPTS say about the network and its certificates."""
    given = environ.get("MAVEN_OPTS", "").split()
    return " ".join((*_JVM, *(word for word in given if word.startswith(_NETWORK))))


def _tail(output: str) -> str:
    """The last lines before Maven's advice on itself, which follows every error alike."""
    lines = [line for line in output.partition("-> [Help 1]")[0].splitlines() if line.strip()]
    return "\n".join(lines[-_TAIL_LINES:])


def _dies_with_us() -> list[str]:
    """A prefix under which the kernel ends Maven when we are killed, if util-linux is there."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM", "--"] if setpriv else []
