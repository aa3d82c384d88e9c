"""What `make setup` needs on this machine, checked all at once before anything is downloaded.

Run as a file by whatever Python 3 the system has, so it uses only the standard library:
python3 cluster/stack/requirements.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

JDKS = (17, 21)
MIN_MEMORY_MIB = 7000
"""A machine sold with 8 GB: the quickstart study uses 6 GiB."""
MIN_DISK_MIB = 6000
MIN_CACHE_MIB = 3000
"""Downloads and stacks, if they are on another disk than the checkout."""

PACKAGES = {
    "apt-get install": {
        "git": "git",
        "Maven": "maven",
        "JDK": "openjdk-21-jdk-headless",
        "Python": "python3-venv",
    },
    "dnf install": {
        "git": "git",
        "Maven": "maven",
        "JDK": "java-21-openjdk-devel",
        "Python": "python3",
    },
}
# Releases of Debian and Ubuntu; each later one has the package above, whatever its default JDK is.
JDK_PACKAGES = {
    "bullseye": "openjdk-17-jdk-headless",
    "focal": "openjdk-17-jdk-headless",
    "jammy": "openjdk-17-jdk-headless",
    "bookworm": "default-jdk-headless",
    "trixie": "default-jdk-headless",
    "noble": "default-jdk-headless",
}


def missing() -> dict[str, str]:
    """{requirement: what was found instead}."""
    found = {"git": _program("git"), "Maven": _program("mvn"), "JDK": _java(), "Python": _python()}
    return {name: instead for name, instead in found.items() if instead}


def _program(name: str) -> str:
    return "" if shutil.which(name) else f"no {name} on PATH"


def scarce() -> Iterator[str]:
    """Sentences about memory and disk: warnings, because a small study may still run."""
    memory_mib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    if memory_mib < MIN_MEMORY_MIB:
        yield f"{memory_mib} MiB of memory; the quickstart study needs {MIN_MEMORY_MIB} MiB."
    here, cache = Path().absolute(), _cache()
    needs_mib = {here: MIN_DISK_MIB}
    if cache.stat().st_dev != here.stat().st_dev:
        needs_mib[cache] = MIN_CACHE_MIB
    for folder, need_mib in needs_mib.items():
        free_mib = shutil.disk_usage(folder).free // 2**20
        if free_mib < need_mib:
            yield f"{free_mib} MiB free in {folder}; set-up and the quickstart need {need_mib} MiB."


def unwritable() -> Iterator[str]:
    """Faults with their remedies: folders that set-up fills, and in which nothing can be written."""
    remedies = {
        Path().absolute(): "clone the repository into a folder of your own",
        _cache(): "set XDG_CACHE_HOME to a folder of your own",
        _existing(_caches("UV_CACHE_DIR", "uv")): "set XDG_CACHE_HOME to a folder of your own",
    }
    for folder, remedy in remedies.items():
        if not os.access(folder, os.W_OK | os.X_OK):
            yield f"error: nothing can be written in {folder}.\nremedy: {remedy}"


def _cache() -> Path:
    """Where the stacks will be, or the nearest folder above it that exists."""
    return _existing(_caches("DENSITY_STUDY_CACHE", "density-study"))


def _caches(variable: str, name: str) -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  never raises
    return Path(os.environ.get(variable) or Path(home, name)).absolute()


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def install_line(names: dict[str, str], codename: str) -> str | None:
    """The command that installs `names` on this distribution; None if the distribution is not known."""
    for command, packages in PACKAGES.items():
        if shutil.which(command.split()[0]):
            if command.startswith("apt-get"):
                packages = packages | {"JDK": JDK_PACKAGES.get(codename, packages["JDK"])}
            return " ".join([command, *(packages[name] for name in names)])
    return None


def _codename() -> str:
    release = Path("/etc/os-release")
    text = release.read_text(encoding="utf-8") if release.exists() else ""
    found = re.search(r'^VERSION_CODENAME="?(\w+)', text, re.M)
    return found.group(1) if found else ""


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not java or not os.access(java, os.X_OK):
        return "no java in JAVA_HOME or on PATH"
    text = subprocess.run([java, "-version"], stderr=subprocess.PIPE, check=False).stderr
    version = re.search(rb'version "(\d+)', text)
    if version is None or int(version.group(1)) not in JDKS:
        name = version.group(1).decode() if version else "an unknown version"
        return f"{java} is Java {name}"
    if not os.access(Path(java).resolve().with_name("javac"), os.X_OK):
        return f"{java} is a runtime without a compiler"
    return ""


def _python() -> str:
    """Only uv runs on the system's Python, so any that has venv will do."""
    python = shutil.which("python3")
    if python is None:
        return "no python3 on PATH"
    tried = subprocess.run(
        [python, "-c", "import ensurepip, venv"], stderr=subprocess.DEVNULL, check=False
    )
    return f"{python} lacks the module venv" if tried.returncode else ""


def main() -> int:
    """Exit code 2 if something is missing or cannot be written, after messages that name all of it."""
    for sentence in scarce():
        print(f"warning: {sentence}", file=sys.stderr)
    faults = list(unwritable())
    for fault in faults:
        print(fault, file=sys.stderr)
    found = missing()
    if not found:
        return 2 if faults else 0
    needed = {"JDK": f"a JDK {JDKS[0]} or {JDKS[-1]}", "Python": "Python 3 with venv"}
    for name, instead in found.items():
        print(f"error: {needed.get(name, name)} is needed: {instead}.", file=sys.stderr)
    line = install_line(found, _codename())
    remedy = f"as root: {line}" if line else "install these with your distribution's packages"
    if "JDK" in found and os.environ.get("JAVA_HOME"):
        remedy += "; then set JAVA_HOME to the JDK, or unset it"
    print(f"remedy: {remedy}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
