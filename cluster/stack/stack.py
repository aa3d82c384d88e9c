"""`Stack`: a verified tree of jars in the cache, there when `ensure` returns."""

from __future__ import annotations

import errno
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import JARS, VERSIONS, Versions, vendor_fault
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.stack.java import Java, find_java
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.maven import find_maven
from density_study.cluster.stack.recipe import Recipe
from density_study.cluster.stack.recipes import recipe_of
from density_study.cluster.stack.tree import MANIFEST, read_tree, write_tree
from density_study.cluster.state import atomic


@dataclass(frozen=True)
class Stack:
    """An assembled stack, named in `recipes`. `jars_sha256` is one hash over names and hashes of its jars."""

    name: str
    version: str
    home: Path
    jars_sha256: str


def stack_home(name: str, versions: Versions = VERSIONS) -> Path:
    """Where the stack is, or will be: its directory's name holds a hash of all it is made from."""
    if brought := versions.brought(name):
        return cache_root() / "stacks" / f"{name}-{brought}"
    return _home(recipe_of(name, versions))


def ensure(name: str, versions: Versions = VERSIONS) -> Stack:
    """The stack `name`, assembled from Maven Central first if the cache does not hold it whole.

    Safe to call from several processes at once: one assembles, the others wait for it.
    Raises InputError: no lock for these versions, no Java 17 or 21, no Maven and nothing cached, Maven
    failing, a jar not as locked.
    """
    if versions.brought(name):
        return _brought(name, versions)
    recipe = recipe_of(name, versions)
    home = _home(recipe)
    return Stack(recipe.name, recipe.version, home, read_tree(home) or _assemble(recipe, home))


def _brought(name: str, versions: Versions) -> Stack:
    """What `study stack add` made. InputError if it is not on this machine, or is another Hadoop."""
    home, key = stack_home(name, versions), "tarball" if name == "hadoop" else name
    files = "phoenix.jar" if name == JARS else "hadoop-VERSION.tar.gz"
    remedy = f"run `study stack add {name} {files}`, which prints what to write."
    if not (sha256 := read_tree(home)):
        what = f"{key} {versions.brought(name)}, which the study names, is not on this machine."
        raise InputError(what, f"stack, {key}", remedy, ("stack", key))
    version = _version_in(home)
    if name == "hadoop" and version != versions.hadoop and not vendor_fault(version):
        what = f"the tarball has Hadoop {version}, and the study names {versions.hadoop}."
        raise InputError(what, f"stack, {key}", f"write hadoop: {version}.", ("stack", "hadoop"))
    return Stack(name, version, home, sha256)


def brought_version(versions: Versions) -> str:
    """The version of Hadoop that the user brought, which may be a vendor's; else that of `versions`."""
    home = stack_home("hadoop", versions)
    return _version_in(home) if versions.tarball and read_tree(home) else versions.hadoop


def _version_in(home: Path) -> str:
    return str(json.loads((home / MANIFEST).read_text())["version"])


def ensure_all(names: Sequence[str], versions: Versions = VERSIONS) -> tuple[Stack, ...]:
    """`ensure` each, at the same time: Maven mostly waits for the network.

    Maven's local repository takes several readers and writers of released artifacts: each file is
    downloaded aside and renamed. Every download is compared with the lock.
    """
    with ThreadPoolExecutor(max_workers=max(1, len(names))) as pool:
        return tuple(pool.map(lambda name: ensure(name, versions), names))


def java_for(recipe: Recipe) -> Java:
    """The JDK, whose compiler Maven's extension and our own jars need. InputError otherwise."""
    java = find_java()
    if not java.has_compiler:
        raise InputError(
            f"{java.home} is a runtime without javac, which the {recipe.name} stack needs.",
            "Java",
            f"install the full JDK {java.feature} (Debian: apt install openjdk-{java.feature}-jdk-headless).",
        )
    return java


def _home(recipe: Recipe) -> Path:
    return cache_root() / "stacks" / f"{recipe.name}-{recipe.version}-{recipe.key()}"


def _assemble(recipe: Recipe, home: Path) -> str:
    read_lock(recipe)  # before Maven is started for jars that nobody can check
    java, maven = java_for(recipe), find_maven(recipe.name)
    with locked(home):
        if jars_sha256 := read_tree(home):  # another process has made it meanwhile
            return jars_sha256
        began = time.monotonic()
        print(f"assembling {recipe.title} from Maven Central ...", file=sys.stderr, flush=True)
        jars_sha256 = write_tree(recipe, maven, java, home)
        seconds = time.monotonic() - began
        print(f"assembled {recipe.title} in {seconds:.0f} s", file=sys.stderr, flush=True)
        return jars_sha256


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """No other process assembles or removes the tree `home` meanwhile. InputError if the cache is not
    writable."""
    path = home.with_name(f".{home.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as failure:
        if failure.errno in (errno.ENOSPC, errno.EDQUOT):
            raise  # that has a remedy of its own
        raise InputError(
            f"the cache is not writable: {failure.strerror}.",
            str(path.parent),
            "set DENSITY_STUDY_CACHE to a directory of your own.",
        ) from failure
    with atomic.locked(path):
        yield


def classpath(stack: Stack, home: PurePath | None = None) -> tuple[str, ...]:
    """Every jar by name (no wildcard), then the directory that holds webapps.

    `home` is where the tree is on the nodes; None: where it is here. Every daemon, client and class-data
    archive uses this order: an archive binds to the exact jars before it, and may hold no directory. The
    caller appends the configuration directory. As jars precede it, a file of the same name in a jar wins:
    jobclient's tests jar has a log4j.properties, so name yours with -Dlog4j.configuration.
    """
    home = home or stack.home
    jars = sorted(jar.name for jar in (stack.home / "lib").iterdir())
    return (*(f"{home}/lib/{jar}" for jar in jars), str(home))
