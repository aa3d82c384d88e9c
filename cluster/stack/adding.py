"""Locks: the jars of a version, hashed the first time that Maven delivers them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import Versions
from density_study.cluster.stack.lock import Lock, lock_of
from density_study.cluster.stack.maven import RUNTIME, download, find_maven
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.recipes import recipe_of, stacks_of
from density_study.cluster.stack.stack import java_for
from density_study.cluster.state.atomic import write_text


def delivered(recipe: Recipe, scopes: Sequence[str] = RUNTIME) -> Lock:
    """The lock of what Maven delivers now. InputError if it fails, for example for an unknown version."""
    with tempfile.TemporaryDirectory(prefix="stack-lock-") as folder:
        maven, java = find_maven(recipe.name), java_for(recipe)
        library, scratch = Path(folder) / "lib", Path(folder) / "build"
        download(maven, java, recipe.pom, library, scratch, recipe.properties, scopes)
        return lock_of(library)


def add(versions: Versions) -> Iterator[Recipe]:
    """Lock Hadoop, the HBase that speaks to it, and a ZooKeeper if one is named; yields the recipe of each. A
    lock that exists stays.

    InputError if Maven Central does not have a version.
    """
    for name in stacks_of(versions):
        recipe = recipe_of(name, versions)
        if not recipe.lock.exists():
            try:
                locked = delivered(recipe)
            except InputError as error:
                raise InputError(
                    error.what,
                    f"{recipe.title} on Maven Central",
                    "check the version: HBase 2 for Hadoop 3 ends in -hadoop3. If it is right, fix what "
                    "Maven names (often the network, a proxy or a mirror in its settings.xml).",
                ) from error
            write_text(recipe.own_lock, locked.text())
        yield recipe
