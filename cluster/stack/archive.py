"""Class-data archives: a stack's classes, parsed and verified once, mapped by every JVM after that.

A daemon starts in half the time with one, and its JIT is left as it is. Which classes go in was
recorded from running daemons (`python -m tests.support.record_classes`) and is kept beside each pom.xml.
The JVM binds an archive to the exact jars before it on the class path, and silently does without it
where they differ.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PurePath

from cluster.model.errors import StudyError
from cluster.stack.classpath import classpath
from cluster.stack.java import Java
from cluster.stack.recipe import recipe_of
from cluster.stack.stack import Stack
from cluster.state import atomic

ARCHIVE = "classes.jsa"
CLASSES = "classes.txt.gz"
"""A class or a lambda's call site a line, as the JVM writes them; beside the stack's pom.xml."""
_KEY = "classes.key"
_HEAP = "-Xmx512m"


def archive_flag(home: PurePath | str) -> str:
    """For any JVM whose class path begins with the stack's jars."""
    return f"-XX:SharedArchiveFile={home}/{ARCHIVE}"


def ensure_archives(stacks: Sequence[Stack], java: Java) -> None:
    """Make the archives that are missing or of another Java, some 15 s each. StudyError if Java fails."""
    with ThreadPoolExecutor(max_workers=max(1, len(stacks))) as pool:
        list(pool.map(lambda stack: _ensure(stack, java), stacks))


def _ensure(stack: Stack, java: Java) -> None:
    classes = recipe_of(stack.name).directory / CLASSES
    key = _key(stack, java, classes)
    if _is_there(stack.home, key):
        return
    with _locked(stack.home):
        if not _is_there(stack.home, key):
            _make(stack, java, gzip.decompress(classes.read_bytes()).decode())
            atomic.write_text(stack.home / _KEY, key)


def _key(stack: Stack, java: Java, classes: Path) -> str:
    content = f"{java.home} {java.version} {stack.jars_sha256} ".encode() + classes.read_bytes()
    return hashlib.sha256(content).hexdigest()


def _is_there(home: Path, key: str) -> bool:
    try:
        return (home / _KEY).read_text() == key and (home / ARCHIVE).exists()
    except FileNotFoundError:
        return False


def _make(stack: Stack, java: Java, classes: str) -> None:
    listed = stack.home / f".classes.{os.getpid()}.txt"
    jars = ":".join(entry for entry in classpath(stack) if entry.endswith(".jar"))
    for left in atomic.left_aside(stack.home, ARCHIVE):
        left.unlink(missing_ok=True)
    try:
        listed.write_text(classes)
        with atomic.replacing(stack.home / ARCHIVE) as aside:
            files = (f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={aside}")
            _java(stack, java, _HEAP, "-Xshare:dump", *files, "-cp", jars)
            _java(stack, java, "-Xshare:on", files[1], "-cp", jars, "-version")  # the JVM takes it
    finally:
        listed.unlink(missing_ok=True)


def _java(stack: Stack, java: Java, *arguments: str) -> None:
    done = subprocess.run(
        [str(java.command), *arguments], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode != 0:
        raise StudyError(
            f"Java could not create the class-data archive of {stack.name}: {done.stderr.strip()[-500:]}",
            str(stack.home),
            "check the free disk space and the JDK, then run `make setup` again.",
        )


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One makes it, others wait; held until the block is left or the process ends."""
    with (home / ".classes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
