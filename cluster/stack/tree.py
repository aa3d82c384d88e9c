"""The tree of an assembled stack, checked against its lock.

<home>/lib/*.jar, <home>/webapps/..., <home>/hbase-webapps/..., <home>/properties.txt, <home>/manifest.json.
A tree is written as a whole, then checked cheaply at every use.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from density_study.cluster.stack.java import Java
from density_study.cluster.stack.lock import Lock, check, lock_of
from density_study.cluster.stack.maven import run_maven
from density_study.cluster.stack.property_names import PROPERTIES, names_in
from density_study.cluster.stack.recipe import TREE_FORMAT, Recipe

MANIFEST = "manifest.json"


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
        check(third_party(recipe, found), recipe)
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
        (aside / PROPERTIES).write_text("".join(f"{name}\n" for name in names_in(aside / "lib")))
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
    given = [f"-D{name}={value}" for name, value in recipe.properties.items()]
    if recipe.shared:
        shutil.copytree(recipe.shared, build / "shared" / "org" / "densitystudy" / "ycsb")
        given.append(f"-Dstack.shared={build / 'shared'}")
    pom = build / "pom.xml"
    run_maven(maven, java, pom, "package", "-Dmaven.test.skip", f"-Dstack.lib={library}", *given)
    shutil.rmtree(build)
    return lock_of(library)


def third_party(recipe: Recipe, found: Lock) -> Lock:
    """Without the jar that we build ourselves."""
    return Lock({name: sha256 for name, sha256 in found.jars.items() if name != recipe.built})
