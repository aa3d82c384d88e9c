"""Maven: downloads the jars of a pom.xml by the user's own settings. It downloads and runs no plug-in.

Our extension (`maven_extension/Jars.java`) copies what Maven itself has resolved, so that `mvn validate`,
which has no plug-in, is enough. Maven's errors carry its own last lines.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.stack.artifact import Artifact, artifact_of
from density_study.cluster.stack.java import Java
from density_study.cluster.state.file_fault import full_disk
from density_study.cluster.state.settings import user_home
from density_study.cluster.state.shell import cleaned

RUNTIME = ("compile", "runtime")
WITH_TESTS = (*RUNTIME, "provided", "test")
_EXTENSION = Path(__file__).with_name("maven_extension") / "Jars.java"
_CLASS = "org.densitystudy.maven.Jars"
_CLASS_FILES = "8"
"""Maven 3.8 finds no extension whose class files are of a later Java."""
_TAIL_LINES = 15
# Maven lives for seconds: the first compiler and the simplest collector start it fastest.
_QUIET = ("-Dstyle.color=never", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_NETWORK = (
    "-Dhttp.", "-Dhttps.", "-DsocksProxy", "-Djava.net.", "-Djavax.net.ssl.", "-Duser.home=",
)  # fmt: skip
"""Beginnings of the properties of a JVM that choose a proxy, the certificates that it trusts, or the home
folder with Maven's settings."""


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


def download(
    maven: Path,
    java: Java,
    pom: Path,
    library: Path,
    scratch: Path,
    properties: Mapping[str, str],
    scopes: Sequence[str] = RUNTIME,
) -> list[Artifact]:
    """Fill the folder `library` with the jars of `pom`, and describe each. `scratch` is a folder to work in.

    Checksums of the repository are strict. InputError with the tail of Maven's output. Nobody has compared
    the jars with a lock yet.
    """
    scratch.mkdir(parents=True)
    project, listing = scratch / "pom.xml", scratch / "listing"
    shutil.copy(pom, project)
    extension = _compiled(maven, java, scratch / "extension")
    given = {
        **properties,
        "maven.ext.class.path": extension,
        "stack.lib": library,
        "stack.listing": listing,
        "stack.scopes": ",".join(scopes),
    }
    argv = [*_dies_with_us(), str(maven), "-B", "-C", *_QUIET, "-f", str(project), "validate"]
    done = _run([*argv, *(f"-D{name}={value}" for name, value in given.items())], java)
    if done.returncode != 0:
        if full := full_disk(library, user_home() / ".m2"):
            raise full
        raise InputError(
            f"Maven failed with exit code {done.returncode}; its last lines:\n"
            f"{_tail(done.stdout + done.stderr)}\n",
            str(pom),
            "fix the problem that Maven names (often the network, a proxy or a mirror in its settings.xml), "
            "then try again; downloaded files are kept.",
        )
    if not listing.exists():
        raise StudyError(
            "Maven ended without an error, but did not load our extension.",
            str(maven),
            "use Maven 3.6.3 to 3.9; `mvn --version` prints which one is on PATH.",
        )
    return [artifact_of(line) for line in listing.read_text(encoding="utf-8").splitlines()]


def _compiled(maven: Path, java: Java, folder: Path) -> Path:
    """The folder with our extension, compiled against this Maven."""
    index = folder / "META-INF" / "sisu" / "javax.inject.Named"  # where Maven looks for components
    index.parent.mkdir(parents=True)
    index.write_text(f"{_CLASS}\n")
    compiler = (
        str(java.home / "bin" / "javac"),
        "-proc:none",
        "-nowarn",
        "--release",
        _CLASS_FILES,
    )
    argv = (*compiler, "-cp", f"{_home(maven, java)}/lib/*", "-d", str(folder), str(_EXTENSION))
    done = _run(argv, java)
    if done.returncode != 0:
        if full := full_disk(folder):
            raise full
        raise StudyError(
            f"our extension does not compile against this Maven: {done.stderr.strip()[-500:]}",
            str(maven),
            "use Maven 3.6.3 to 3.9; `mvn --version` prints which one is on PATH.",
        )
    return folder


def _home(maven: Path, java: Java) -> str:
    said = _run((str(maven), "--version"), java)
    found = re.search(r"^Maven home: (.+?)(?:\x1b.*)?$", said.stdout, re.M)
    if found is None:
        raise InputError(
            f"`mvn --version` does not name its home: {_tail(said.stdout + said.stderr)}",
            str(maven),
            "run `mvn --version`; it must print `Maven home: ...`.",
        )
    return found[1].strip()


def _run(argv: Sequence[str], java: Java) -> subprocess.CompletedProcess[str]:
    environ = {
        **cleaned(os.environ),
        "JAVA_HOME": str(java.home),
        "MAVEN_OPTS": _options(os.environ),
    }
    return subprocess.run(
        argv,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
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
