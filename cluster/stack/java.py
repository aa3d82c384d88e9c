"""`Java`: the JDK that Maven, the daemons and the clients run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import numbers

FEATURES = (17, 21)
"""Every version of Hadoop and HBase that is known here runs on these."""
JDK = " or ".join(f"{feature}" for feature in FEATURES)
OLDEST = 17
NO_SECURITY_MANAGER = 24
WITHOUT_SECURITY_MANAGER = "3.5.0"
"""From Java 24 on there is no SecurityManager, and from this Hadoop on nobody needs it (HADOOP-19212)."""
INSTALLED = Path("/usr/lib/jvm")
"""Where Debian, Red Hat and Adoptium's packages install JDKs, a folder each."""
_START_TIMEOUT_S = 60
_NO_FILES = "-XX:-UsePerfData"
"""Without this option, the JVM leaves a folder in /tmp."""
_REMEDY = (
    f"install a JDK {JDK} (Debian 12 and 13: apt install default-jdk-headless) "
    "and point JAVA_HOME at it."
)


@dataclass(frozen=True)
class Java:
    """A Java home and its version as its vendor writes it, like 17.0.15."""

    home: Path
    version: str

    @property
    def command(self) -> Path:
        return self.home / "bin" / "java"

    @property
    def feature(self) -> int:
        """17 of 17.0.15, and 8 of 1.8.0_392."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)]
        return numbers[1] if numbers[0] == 1 else numbers[0]

    @property
    def has_compiler(self) -> bool:
        return os.access(self.home / "bin" / "javac", os.X_OK)


def find_java(environ: Mapping[str, str] | None = None, feature: int | None = None) -> Java:
    """The JDK 17 or 21 of JAVA_HOME, else of the `java` on PATH. A wrong JAVA_HOME is not passed by.

    With a `feature`, the JDK of that release: this one, or another one that is installed.
    Raises InputError when there is none, or one of another version.
    """
    environ = os.environ if environ is None else environ
    if feature is not None:
        return _of_feature(feature, environ)
    home, where = _home(environ)
    return _java_in(home, where)


def check_home(home: str) -> None:
    """InputError if it is not the home of a JDK that starts, 17 or later. `find_java` decided before which
    release the hosts' daemons get."""
    java = _java_in(Path(home), home, range(OLDEST, 1000))
    done = subprocess.run(
        [str(java.command), _NO_FILES, "-version"],
        capture_output=True, text=True, errors="replace", timeout=_START_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode:
        raise InputError(f"it does not start: {done.stderr.strip()[-300:]}", home, _REMEDY)


def _java_in(home: Path, where: str, features: Container[int] = FEATURES) -> Java:
    if not os.access(home / "bin" / "java", os.X_OK):
        raise InputError(f"{home} has no executable bin/java.", where, _REMEDY)
    java = Java(home, _version(home, where))
    if java.feature not in features:
        raise InputError(f"{home} holds Java {java.version}, not {JDK}.", where, _REMEDY)
    return java


def refusal(flags: Sequence[str], feature: int | None = None) -> str:
    """What this machine's Java says of JVM flags that it refuses: 'Java 17.0.15 refuses -Xmx1z: Invalid ...'.
    Empty if it takes them. `feature` as for `find_java`."""
    java = find_java(feature=feature)
    done = subprocess.run(
        [str(java.command), _NO_FILES, *flags, "-version"],
        capture_output=True, text=True, errors="replace", timeout=_START_TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return ""
    said = " ".join((done.stderr or done.stdout).split())
    return f"Java {java.version} refuses {' '.join(flags)}: {said[:300]}"


def fault_of(feature: int, hadoop: str) -> str:
    """Why this version of Hadoop does not run on a feature release of Java; empty if it does."""
    if feature < OLDEST:
        return f"needs Java {OLDEST} or later, not {feature}"
    if feature >= NO_SECURITY_MANAGER and numbers(hadoop) < numbers(WITHOUT_SECURITY_MANAGER):
        return (
            f"does not run on Java {feature}: it needs the SecurityManager, which Java "
            f"{NO_SECURITY_MANAGER} removed; Hadoop {WITHOUT_SECURITY_MANAGER} does not need it"
        )
    return ""


def installed_features() -> tuple[int, ...]:
    """The feature releases of the JDKs on this machine that some version of Hadoop runs on."""
    return tuple(
        sorted({java.feature for java in _installed(os.environ) if java.feature >= OLDEST})
    )


def _of_feature(feature: int, environ: Mapping[str, str]) -> Java:
    installed = list(_installed(environ))
    for java in installed:
        if java.feature == feature:
            return java
    found = ", ".join(dict.fromkeys(f"{java.version} in {java.home}" for java in installed))
    raise InputError(
        f"no JDK {feature} is installed; found: {found or 'none'}.",
        "Java",
        f"install a JDK {feature} (Debian: apt install openjdk-{feature}-jdk-headless) below {INSTALLED}, "
        "or point JAVA_HOME at it.",
    )


def _installed(environ: Mapping[str, str]) -> Iterator[Java]:
    """JAVA_HOME's, PATH's, then those of the usual folder; others than JDKs are skipped."""
    homes = [Path(environ["JAVA_HOME"])] if environ.get("JAVA_HOME") else []
    if command := shutil.which("java", path=environ.get("PATH", "")):
        homes.append(Path(command).resolve().parent.parent)
    if INSTALLED.is_dir():
        homes += sorted(home for home in INSTALLED.iterdir() if not home.is_symlink())
    for home in dict.fromkeys(homes):
        if os.access(home / "bin" / "java", os.X_OK):
            with suppress(InputError):
                yield Java(home, _version(home, str(home)))


def _home(environ: Mapping[str, str]) -> tuple[Path, str]:
    if environ.get("JAVA_HOME"):
        return Path(environ["JAVA_HOME"]), "JAVA_HOME"
    command = shutil.which("java", path=environ.get("PATH", ""))
    if command is None:
        raise InputError(
            "Java was not found: JAVA_HOME is not set and `java` is not on PATH.", "PATH", _REMEDY
        )
    return Path(command).resolve().parent.parent, "java on PATH"


def _version(home: Path, where: str) -> str:
    """From the release file (some 40 ms faster than a JVM), else from java itself."""
    release = home / "release"
    if release.is_file():
        text, pattern = release.read_text(errors="replace"), r'^JAVA_VERSION="(\d[^"]*)"'
    else:
        argv, pattern = [str(home / "bin" / "java"), _NO_FILES, "-version"], r'version "(\d[^"]*)"'
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=30, check=False
        )
        text = done.stderr
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise InputError(f"the Java version of {home} cannot be determined.", where, _REMEDY)
    return found[1]
