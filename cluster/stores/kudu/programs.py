"""Kudu's servers, as a jar on Maven Central holds them: Linux programs for x86-64."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path
from zipfile import ZipFile

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack.stack import Stack, ensure, locked, stack_home
from density_study.cluster.stack.store_software import UNPACKED, StoreSoftware


def ensure_programs() -> StoreSoftware:
    """Unpacked in the cache. InputError on another processor, or if a part is missing."""
    machine = f"{platform.system()} {platform.machine()}"
    if machine != "Linux x86_64":
        raise InputError(
            f"Kudu's servers are published only for Linux on x86-64; this is {machine}.",
            "store kudu",
            "use another store, or a machine with such a processor.",
        )
    stack = ensure("kudu")
    _unpack(stack)
    program = programs_home() / "bin" / "kudu-tserver"
    return StoreSoftware("Kudu", stack.version, stack.jars_sha256, program)


def programs_home() -> Path:
    """The folder with bin, lib and www, once `ensure_programs` has returned."""
    return stack_home("kudu") / UNPACKED


def _unpack(stack: Stack) -> None:
    """The files of the jar, which was checked against the lock, beside it."""
    home = programs_home()
    aside = home.with_name("unpacking")
    with locked(stack.home):
        if home.exists():
            return
        shutil.rmtree(aside, ignore_errors=True)  # left by one that was killed
        (jar,) = (stack.home / "lib").iterdir()
        with ZipFile(jar) as archive:
            archive.extractall(aside)
        (inner,) = aside.glob("kudu-binary-*")
        for program in (inner / "bin").iterdir():
            program.chmod(0o755)  # a jar keeps no permissions
        inner.rename(home)
        shutil.rmtree(aside)
