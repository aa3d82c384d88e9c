"""HBase's PerformanceEvaluation in the cache of stacks, by a recipe of the tests' own."""

from __future__ import annotations

from pathlib import Path

from density_study.cluster.stack import classpath, ensure
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.stack.maven import find_maven
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.stack import java_for, locked
from density_study.cluster.stack.tree import read_tree, write_tree

RECIPE = Recipe("hbase-peer", "2.6.4", Path(__file__).parent / "stack")
NEEDED = ("hbase-", "hadoop-mapreduce-")
"""Beginnings of the names of those jars of HBase's stack that PE needs beyond YCSB's."""


def evaluation_jars() -> list[str]:
    """PE's jar as locked, and what it needs beside the stack of YCSB."""
    home = cache_root() / "stacks" / f"{RECIPE.name}-{RECIPE.version}-{RECIPE.key()}"
    with locked(home):
        if not read_tree(home):
            write_tree(RECIPE, find_maven(RECIPE.name), java_for(RECIPE), home)
    there = {Path(jar).name for jar in classpath(ensure("ycsb"))}
    more = [Path(jar) for jar in classpath(ensure("hbase"))]
    beside = [
        jar
        for jar in more
        if jar.suffix == ".jar" and jar.name.startswith(NEEDED) and jar.name not in there
    ]
    return [*map(str, sorted((home / "lib").iterdir())), *map(str, beside)]
