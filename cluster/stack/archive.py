"""Class-data archives: a stack's classes, parsed and verified once, mapped by every JVM after that.

A daemon starts in half the time with one, and its JIT is left as it is. Its classes were
recorded from running daemons (`python -m tests.support.record_classes`) and are kept beside each pom.xml; of
another version, the JVM leaves out those that it does not find.
The JVM binds an archive to the exact jars before it on the class path, and silently ignores it where they
differ.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePath

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.versions import JARS, NATIVE
from density_study.cluster.stack.java import Java
from density_study.cluster.stack.recipes import recipe_of
from density_study.cluster.stack.stack import Stack, classpath
from density_study.cluster.state import atomic

CLASSES = "classes.txt.gz"
"""One class or call site of a lambda per line, as the JVM writes them; beside the stack's pom.xml."""
_HEAP = "-Xmx512m"


def archive_name(feature: int | None) -> str:
    """The archive's file in the stack's tree, for the Java that a study names by its feature release, else
    for the machine's own."""
    return f"classes{f'-{feature}' if feature else ''}.jsa"


def archive_flag(home: PurePath | str, feature: int | None = None) -> str:
    """The flag with which a JVM uses the stack's archive of classes. The JVM's class path must begin with the
    stack's jars."""
    return f"-XX:SharedArchiveFile={home}/{archive_name(feature)}"


def ensure_archives(stacks: Sequence[Stack], java: Java, feature: int | None = None) -> None:
    """Make the archives that are missing or of another Java, some 15 s each. StudyError if Java fails."""
    name = archive_name(feature)
    with ThreadPoolExecutor(max_workers=max(1, len(stacks))) as pool:
        list(pool.map(lambda stack: _ensure(stack, java, name), stacks))


def has_archive(stack: Stack) -> bool:
    """Whether its classes were recorded: those of other stores than HBase were not."""
    return stack.name not in (NATIVE, JARS) and _recorded(stack).exists()


def class_list(stack: Stack) -> str:
    """The classes of its archive, as the JVM writes them."""
    return gzip.decompress(_recorded(stack).read_bytes()).decode()


def _recorded(stack: Stack) -> Path:
    return recipe_of(stack.name).directory / CLASSES


def _ensure(stack: Stack, java: Java, name: str) -> None:
    made_from = f"{java.home} {java.version} {stack.jars_sha256} ".encode()
    key = hashlib.sha256(made_from + _recorded(stack).read_bytes()).hexdigest()
    ensure_archive(stack.home / name, key, partial(_make, stack, java))


def ensure_archive(archive: Path, key: str, make: Callable[[Path], None]) -> None:
    """Let `make` write the archive, unless there is one of the same key: what it was made from."""
    kept = archive.with_suffix(".key")
    if _is_there(archive, kept, key):
        return
    with atomic.locked(archive.with_name(".classes.lock")):
        if not _is_there(archive, kept, key):
            for left in atomic.left_aside(archive.parent, archive.name):
                left.unlink(missing_ok=True)
            with atomic.replacing(archive) as aside:
                make(aside)
            atomic.write_text(kept, key)


def _is_there(archive: Path, kept: Path, key: str) -> bool:
    try:
        return kept.read_text() == key and archive.exists()
    except FileNotFoundError:
        return False


def _make(stack: Stack, java: Java, archive: Path) -> None:
    listed = stack.home / f".classes.{os.getpid()}.txt"
    jars = ":".join(classpath(stack)[:-1])
    try:
        listed.write_text(class_list(stack))
        files = (f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={archive}")
        _java(stack, java, _HEAP, "-Xshare:dump", *files, "-cp", jars)
        _java(stack, java, "-Xshare:on", files[1], "-cp", jars, "-version")  # the JVM takes it
    finally:
        listed.unlink(missing_ok=True)


def _java(stack: Stack, java: Java, *arguments: str) -> None:
    done = subprocess.run(
        [str(java.command), *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        raise StudyError(
            f"Java could not create the class-data archive of {stack.name}: {done.stderr.strip()[-500:]}",
            str(stack.home),
            "check the free disk space and the JDK, then run `study setup`.",
        )
