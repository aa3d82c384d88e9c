"""The tree of an assembled stack, checked against its lock.

<home>/lib/*.jar, <home>/webapps/..., <home>/hbase-webapps/..., <home>/properties.txt, <home>/manifest.json.
A tree is written as a whole, then checked cheaply at every use.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from density_study.cluster.stack.artifact import Artifact
from density_study.cluster.stack.java import Java
from density_study.cluster.stack.lock import Lock, check, lock_of
from density_study.cluster.stack.maven import download
from density_study.cluster.stack.own_jar import write_jar
from density_study.cluster.stack.property_names import PROPERTIES, names_in
from density_study.cluster.stack.recipe import TREE_FORMAT, Recipe
from density_study.cluster.state.atomic import naming
from density_study.cluster.state.plain_file import check_owner

MANIFEST = "manifest.json"


def read_tree(home: Path) -> str | None:
    """One SHA-256 over names and hashes of all jars of the tree at `home`.

    None if there is no tree, or a jar is missing, unknown or of another size. Sizes, not hashes: this runs at
    every use, within milliseconds. InputError if another person could put other jars there.
    """
    for folder in (home / "lib", home, *home.parents[:2]):
        check_owner(folder, "set DENSITY_STUDY_CACHE to a folder of your own.")
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
    with assembling(home) as aside:
        library, scratch = aside / "lib", aside / "build"
        artifacts = download(maven, java, recipe.pom, library, scratch, recipe.properties)
        check(lock_of(library), recipe)
        if recipe.built:
            write_jar(recipe, java, library, scratch)
            artifacts.append(recipe.own_artifact)
        shutil.rmtree(scratch)
        found = lock_of(library)
        for name in recipe.webapps:
            (aside / name).mkdir(parents=True)
        manifest = {
            "format": TREE_FORMAT,
            "name": recipe.name,
            "version": recipe.version,
            "jars_sha256": found.sha256(),
            "jars": [_facts(library, artifact, found) for artifact in sorted(artifacts)],
        }
        (aside / PROPERTIES).write_text("".join(f"{name}\n" for name in names_in(library)))
        (aside / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    return found.sha256()


@contextmanager
def assembling(home: Path) -> Iterator[Path]:
    """A folder beside `home` that replaces it if the block succeeds, and is removed if not. A full disk is an
    error of this folder."""
    aside = home.with_name(f".{home.name}.assembling")
    shutil.rmtree(aside, ignore_errors=True)  # left by one that was killed
    try:
        with naming(aside):
            aside.mkdir(parents=True)
            yield aside
            shutil.rmtree(home, ignore_errors=True)  # a damaged one
            aside.rename(home)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _facts(library: Path, artifact: Artifact, found: Lock) -> dict[str, Any]:
    size = (library / artifact.file).stat().st_size
    return {
        "name": artifact.file,
        "bytes": size,
        "sha256": found.jars[artifact.file],
        **artifact.facts(),
    }
