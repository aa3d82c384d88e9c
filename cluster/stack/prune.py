"""Trees in the cache that this version does not use: found, and removed where no process uses them.

Another checkout of another version may share the cache; what it misses it assembles again at its next build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from density_study.cluster.stack.cache import cache_root
from density_study.cluster.stack.recipes import RECIPES, further_recipes, locked_versions
from density_study.cluster.stack.stack import locked, stack_home
from density_study.cluster.stack.tree import MANIFEST

_PROC = Path("/proc")
_NAMED_IN = ("cmdline", "environ", "maps")
"""For a process: a class path or its argument file's archive, CLASSPATH, an archive mapped into memory."""


def other_trees() -> list[Path]:
    """Trees that no recipe of this version names, by name. Only what says itself that it is one: its
    folder's name and its manifest's stack and version agree. Links are none."""
    ours = {
        stack_home(name, versions)
        for name in (*RECIPES, *further_recipes())
        for versions in locked_versions()
    }
    stacks = cache_root() / "stacks"
    if not stacks.is_dir():
        return []
    return sorted(home for home in stacks.iterdir() if home not in ours and _is_tree(home))


def in_use(home: Path) -> bool:
    """Whether a process names a path below `home`: also another user's, if its command line does."""
    wanted = os.fsencode(f"{home}/")
    return any(wanted in text for text in _process_texts())


def remove(home: Path) -> bool:
    """Remove the tree unless a process uses it; whether it is gone. Nobody assembles it meanwhile."""
    with locked(home):
        if in_use(home):
            return False
        aside = home.with_name(f".{home.name}.assembling")  # what the next assembly clears away
        shutil.rmtree(aside, ignore_errors=True)
        home.rename(aside)
        shutil.rmtree(aside)
    return True


def size_mib(home: Path) -> float:
    return sum(p.lstat().st_size for p in home.rglob("*") if not p.is_dir()) / 2**20


def _is_tree(home: Path) -> bool:
    if home.is_symlink() or not re.fullmatch(r"[a-z].*-[0-9a-f]{16}", home.name):
        return False
    try:
        manifest = json.loads((home / MANIFEST).read_text())
        return home.name.rpartition("-")[0] == f"{manifest['name']}-{manifest['version']}"
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _process_texts() -> Iterator[bytes]:
    for process in _PROC.iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        for name in _NAMED_IN:
            try:
                yield (process / name).read_bytes()
            except OSError:
                continue  # it has ended, or is another user's
