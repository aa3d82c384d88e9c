"""`Lock`: the jars of a stack by name and SHA-256, in sha256sum's own format."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack.recipe import Recipe

_LINE = re.compile(r"([0-9a-f]{64})  (\S+\.jar)")


@dataclass(frozen=True)
class Lock:
    """jar file name -> SHA-256 in hex. `sha256sum --check` reads the same file."""

    jars: Mapping[str, str]

    def text(self) -> str:
        return "".join(f"{self.jars[name]}  {name}\n" for name in sorted(self.jars))

    def sha256(self) -> str:
        """One hash for the whole closure, as records disclose it."""
        return hashlib.sha256(self.text().encode()).hexdigest()


def read_lock(recipe: Recipe, tests: bool = False) -> Lock:
    """Reads the lock, with the jars of unit tests if `tests`. InputError for a missing lock, or a line that
    is not `<sha256> <name>.jar`."""
    found = _read(recipe, recipe.lock)
    if tests:
        found = Lock({**_read(recipe, recipe.tests_lock).jars, **found.jars})
    return found


def _read(recipe: Recipe, path: Path) -> Lock:
    if not path.is_file():
        raise InputError(
            f"{recipe.title} has no lock file: this machine does not know its jars.",
            str(path),
            f"{_lock_command(recipe)}",
        )
    jars: dict[str, str] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise InputError(
                f"{line!r} is not a line that `sha256sum` writes.",
                f"{path}:{number}",
                _lock_command(recipe),
            )
        jars[found[2]] = found[1]
    return Lock(jars)


def lock_of(lib: Path) -> Lock:
    """Hash every file in `lib` (100 MB take about 0.1 s)."""
    jars = {}
    for jar in sorted(lib.iterdir()):
        with jar.open("rb") as file:
            jars[jar.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return Lock(jars)


def check(found: Lock, recipe: Recipe, tests: bool = False) -> None:
    """Raises InputError naming the first jar that differs, is missing, or is not in the lock."""
    locked = read_lock(recipe, tests)
    for name in sorted(locked.jars.keys() | found.jars.keys()):
        want, got = locked.jars.get(name), found.jars.get(name)
        if want == got:
            continue
        raise InputError(
            f"{name} has SHA-256 {got or 'none: Maven did not deliver it'}, "
            f"but the lock has {want or 'no entry for it'}.",
            str(recipe.lock),
            "do not use this jar: remove it from Maven's local repository and try again; "
            f"if the pom was changed on purpose, {_lock_command(recipe)}",
        )


def _lock_command(recipe: Recipe) -> str:
    versions = recipe.properties
    if recipe.shipped_lock.exists() or not versions:
        command = f"python -m density_study.cluster.stack lock {recipe.name}"
        return f"write the lock anew with `{command}` and review it."
    on = f" --hadoop {versions['hadoop.version']}" if recipe.name == "hbase" else ""
    return f"run `study stack add {recipe.name} {recipe.version}{on}`, which locks them by SHA-256."
