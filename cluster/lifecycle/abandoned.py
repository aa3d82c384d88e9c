"""What killed processes of this user left in folders for temporary files, and beside runs."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

from density_study.cluster.lifecycle.reap import Reaped
from density_study.cluster.machine.other_users import private_network
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.scratch import IMPORT, OWN, REMOVED, SPARK, sweep

_EARLIER = re.compile(r"virsh-ssh-[0-9a-f]{16}|(conf|stacks|ticket)-[a-z0-9_]{8}")
"""What versions before `OWN` made in the runtime folder, without a lock. They used each for minutes."""
_DAY_S = 86_400.0


def sweep_abandoned(runs: Path, dry_run: bool) -> tuple[Reaped, ...]:
    """Remove it; describes what there was. Empty if there was nothing. A dry run removes nothing."""
    own = runtime_dir()
    places = [(Path(gettempdir()), SPARK), (cache_root(), SPARK), (own, OWN)]
    for study in runs.glob("*"):
        if not study.is_symlink():  # it may lead anywhere
            # earlier versions had one folder for all runs that are being removed
            places += [(study, IMPORT), (study, REMOVED.rstrip("-"))]
    found = [folder for parent, prefix in places for folder in sweep(parent, prefix, dry_run)]
    found += (*private_network.sweep(dry_run), *_of_earlier_versions(own, dry_run))
    return (Reaped("killed processes", tuple(map(str, found)), dry_run),) if found else ()


def _of_earlier_versions(own: Path, dry_run: bool) -> list[Path]:
    found = list[Path]()
    for path in sorted(own.iterdir()):
        if _EARLIER.fullmatch(path.name) and _is_old(path) and not _is_named(path.name):
            with suppress(OSError):  # it has gone meanwhile, or another process removes it
                if not dry_run:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                found.append(path)
    return found


def _is_old(path: Path) -> bool:
    with suppress(FileNotFoundError):
        status = path.lstat()
        return status.st_uid == os.getuid() and status.st_mtime < time.time() - _DAY_S
    return False


def _is_named(name: str) -> bool:
    """Whether a process of this machine has it in its command line, as virsh has."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            if name.encode() in process.read_bytes():
                return True
    return False
