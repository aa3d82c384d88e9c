"""The archive of Spark's classes: parsed and verified once, mapped by every session after that.

With it, the start of a session and its first queries take half the processor time. The JVM binds an archive
to the exact Java and jars, and silently starts without it where they differ.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from density_study.cluster.stack.archive import ensure_archive
from density_study.cluster.stack.java import find_java
from density_study.cluster.state.plain_file import why_unread
from density_study.jobs.spark.session import ARCHIVE

QUERIES = "density_study.jobs.archived_queries"
"""The program that makes one. Set-up does not import it: the analysis takes a second to load."""
TIMEOUT_S = 600.0


def ensure_class_archive() -> str:
    """Make the archive, in some 15 s, unless there is one of this Java and these jars. Returns why there is
    none; empty if there is one."""
    java = find_java()
    try:
        ensure_archive(ARCHIVE, f"{java.home} {java.version} {_jars()}", _make)
    except subprocess.TimeoutExpired:
        return f"it was not made within {TIMEOUT_S:g} s."
    except subprocess.CalledProcessError:
        return "the program that makes it failed; what it printed is above."
    except OSError as error:
        place = f" ({ARCHIVE.parent})" if error.errno else ""
        return f"{why_unread(error)}{place}."
    return ""


def _jars() -> str:
    """A digest of what the JVM compares: it takes no archive of other jars."""
    infos = [(jar.name, jar.stat()) for jar in sorted((ARCHIVE.parent / "jars").iterdir())]
    listed = repr([(name, info.st_size, info.st_mtime_ns) for name, info in infos])
    return hashlib.sha256(listed.encode()).hexdigest()


def _make(archive: Path) -> None:
    ARCHIVE.unlink(missing_ok=True)  # a session that makes one cannot use one
    command = [sys.executable, "-m", QUERIES, str(archive)]
    subprocess.run(command, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=True)
    if not archive.exists():
        raise FileNotFoundError("Java wrote no archive: it may lack the one of its own classes")
