"""The tree of an assembled stack and its lock: the jars by name and SHA-256, in sha256sum's own format.

<home>/lib/*.jar, <home>/webapps/..., <home>/hbase-webapps/..., <home>/manifest.json. A tree is written as a
whole, then checked cheaply at every use.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.model.errors import InputError
from cluster.stack.java import Java
from cluster.stack.maven import run_maven
from cluster.stack.recipe import TREE_FORMAT, Recipe

MANIFEST = "manifest.json"
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


def read_lock(path: Path) -> Lock:
    """Raises InputError for a missing lock, or a line that is not `<sha256>  <name>.jar`."""
    if not path.is_file():
        raise InputError("the lock file is missing.", str(path), _regenerate(path))
    jars: dict[str, str] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise InputError(
                f"{line!r} is not a line that `sha256sum` writes.",
                f"{path}:{number}",
                _regenerate(path),
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


def check(found: Lock, locked: Lock, lock_path: Path) -> None:
    """Raises InputError naming the first jar that differs, is missing, or is not in the lock."""
    for name in sorted(locked.jars.keys() | found.jars.keys()):
        want, got = locked.jars.get(name), found.jars.get(name)
        if want == got:
            continue
        raise InputError(
            f"{name} has SHA-256 {got or 'none: Maven did not deliver it'}, "
            f"but the lock has {want or 'no entry for it'}.",
            str(lock_path),
            "do not use this jar: remove it from Maven's local repository and try again; "
            f"if the pom was changed on purpose, {_regenerate(lock_path)}",
        )


def _regenerate(path: Path) -> str:
    name = "ycsb" if path.parent.name == "java" else path.parent.name
    return f"write the lock anew with `python -m cluster.stack lock {name}` and review it."


def read_tree(home: Path) -> str | None:
    """One SHA-256 over names and hashes of all jars of the tree at `home`.

    None if there is no tree, or a jar is missing, unknown or of another size. Sizes, not hashes: this runs at
    every use, within milliseconds.
    """
    try:
        manifest = json.loads((home / MANIFEST).read_text())
        sizes = {entry.name: entry.stat().st_size for entry in os.scandir(home / "lib")}
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    if {jar["name"]: jar["bytes"] for jar in manifest["jars"]} != sizes:
        return None
    return str(manifest["jars_sha256"])


def write_tree(recipe: Recipe, maven: Path, java: Java, home: Path) -> str:
    """Assemble in a directory beside `home`, verify every hash, rename. `home` is whole or absent.

    One writer at a time: the caller holds the stack's file lock. Returns the hash of `read_tree`.
    """
    aside = home.with_name(f".{home.name}.assembling")
    shutil.rmtree(aside, ignore_errors=True)  # left by one that was killed
    try:
        found = fetch_jars(recipe, maven, java, aside)
        check(third_party(recipe, found), read_lock(recipe.lock), recipe.lock)
        for name in recipe.webapps:
            (aside / name).mkdir(parents=True)
        jars = [
            {"name": name, "bytes": (aside / "lib" / name).stat().st_size, "sha256": sha256}
            for name, sha256 in sorted(found.jars.items())
        ]
        manifest = {
            "format": TREE_FORMAT,
            "name": recipe.name,
            "version": recipe.version,
            "jars_sha256": found.sha256(),
            "jars": jars,
        }
        (aside / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
        shutil.rmtree(home, ignore_errors=True)  # a damaged one
        aside.rename(home)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return found.sha256()


def fetch_jars(recipe: Recipe, maven: Path, java: Java, into: Path) -> Lock:
    """Let Maven fill `into`/lib. Its own files go to `into`/build, which is removed again."""
    build = into / "build"
    build.mkdir(parents=True)
    shutil.copy(recipe.pom, build)
    if recipe.built:
        shutil.copytree(recipe.directory / "src", build / "src")
    library = into / "lib"
    run_maven(
        maven, java, build / "pom.xml", "package", "-Dmaven.test.skip", f"-Dstack.lib={library}"
    )
    shutil.rmtree(build)
    return lock_of(library)


def third_party(recipe: Recipe, found: Lock) -> Lock:
    """Without the jar that we build ourselves."""
    return Lock({name: sha256 for name, sha256 in found.jars.items() if name != recipe.built})
