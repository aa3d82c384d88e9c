"""Class-data archives: a stack's classes, parsed and verified once, mapped by every JVM after that.

A daemon starts in half the time with one, and its JIT is left as it is. Its classes were
recorded from running daemons (`python -m tests.support.record_classes`) and are kept beside each pom.xml.
The JVM binds an archive to the exact jars before it on the class path, and silently ignores it where they
differ.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePath

from cluster.model.errors import StudyError
from cluster.stack.java import Java
from cluster.stack.recipe import recipe_of
from cluster.stack.stack import Stack, classpath
from cluster.state import atomic

ARCHIVE = "classes.jsa"
CLASSES = "classes.txt.gz"
"""One class or call site of a lambda per line, as the JVM writes them; beside the stack's pom.xml."""
_KEY = "classes.key"
_HEAP = "-Xmx512m"


def archive_flag(home: PurePath | str) -> str:
    """For any JVM whose class path begins with the stack's jars."""
    return f"-XX:SharedArchiveFile={home}/{ARCHIVE}"


def ensure_archives(stacks: Sequence[Stack], java: Java) -> None:
    """Make the archives that are missing or of another Java, some 15 s each. StudyError if Java fails."""
    with ThreadPoolExecutor(max_workers=max(1, len(stacks))) as pool:
        list(pool.map(lambda stack: _ensure(stack, java), stacks))


def class_list(stack: Stack) -> str:
    """The classes of its archive, as the JVM writes them."""
    return gzip.decompress(_recorded(stack).read_bytes()).decode()


def _recorded(stack: Stack) -> Path:
    return recipe_of(stack.name).directory / CLASSES


def _ensure(stack: Stack, java: Java) -> None:
    made_from = f"{java.home} {java.version} {stack.jars_sha256} ".encode()
    key = hashlib.sha256(made_from + _recorded(stack).read_bytes()).hexdigest()
    if _is_there(stack.home, key):
        return
    with atomic.locked(stack.home / ".classes.lock"):
        if not _is_there(stack.home, key):
            _make(stack, java)
            atomic.write_text(stack.home / _KEY, key)


def _is_there(home: Path, key: str) -> bool:
    try:
        return (home / _KEY).read_text() == key and (home / ARCHIVE).exists()
    except FileNotFoundError:
        return False


def _make(stack: Stack, java: Java) -> None:
    listed = stack.home / f".classes.{os.getpid()}.txt"
    jars = ":".join(classpath(stack)[:-1])
    for left in atomic.left_aside(stack.home, ARCHIVE):
        left.unlink(missing_ok=True)
    try:
        listed.write_text(class_list(stack))
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
            "check the free disk space and the JDK, then run `study setup`.",
        )
