"""`StoreSoftware`: the program or library of a store other than HBase, as records disclose it."""

from __future__ import annotations

import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.store import Store
from density_study.cluster.stack.java import Java
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.machine_software import THIS_MACHINE, MachineSoftware
from density_study.cluster.stack.recipes import recipe_of
from density_study.cluster.stack.stack import Stack, classpath, ensure, locked, stack_home

CLIENTS = "ycsb-stores"
"""The stack with the bindings."""
UNPACKED = "unpacked"
"""Of a stack's tree: the folder with programs that its jar holds."""
_CLUSTER_PORT_SINCE = 7
"""The first version of Redis, and of Valkey, with the option cluster-port."""


@dataclass(frozen=True)
class StoreSoftware:
    """`program`: the server's executable; None where the store is a library of its clients, or runs on
    `java`, with `classpath`. `name`: Redis or Valkey, ... `sha256`: of a program, a jar, or over all jars."""

    name: str
    version: str
    sha256: str
    program: Path | None = None
    java: Java | None = None
    classpath: tuple[str, ...] = ()


def ensure_store(store: Store, machine: MachineSoftware = THIS_MACHINE) -> StoreSoftware:
    """The store's software, and its client's jars in the cache. InputError if a part is missing. `machine`:
    where the nodes are, by default here."""
    if store.name == "kudu":
        _check_kudu_runs_here()
    ensure(CLIENTS)
    if store.name in ("redis", "redis-cluster"):
        found = machine.redis(_CLUSTER_PORT_SINCE if store.name == "redis-cluster" else 0)
        return StoreSoftware(
            found["name"], found["version"], found["sha256"], Path(found["program"])
        )
    if store.name == "kudu":
        return _kudu()
    if store.name == "rocksdb":
        return _library("RocksDB", "rocksdbjni")
    return _servers(store, machine)


def _servers(store: Store, machine: MachineSoftware) -> StoreSoftware:
    """Those of a stack with the store's name."""
    java, stack = machine.java(store.facts.java), ensure(store.name)
    return StoreSoftware(
        store.facts.title, stack.version, stack.jars_sha256, java=java, classpath=classpath(stack)
    )


def kudu_home() -> Path:
    """The folder with bin, lib and www, once `ensure_store` has returned."""
    return stack_home("kudu") / UNPACKED


def _check_kudu_runs_here() -> None:
    machine = f"{platform.system()} {platform.machine()}"
    if machine != "Linux x86_64":
        raise InputError(
            f"Kudu's servers are published for Linux on x86-64 alone; this is {machine}.",
            "store kudu",
            "use another store, or a machine with such a processor.",
        )


def _kudu() -> StoreSoftware:
    stack = ensure("kudu")
    _unpack(stack)
    return StoreSoftware(
        "Kudu", stack.version, stack.jars_sha256, kudu_home() / "bin" / "kudu-tserver"
    )


def _unpack(stack: Stack) -> None:
    """The files of the jar, which was checked against the lock, beside it."""
    home = kudu_home()
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


def _library(title: str, artifact: str) -> StoreSoftware:
    """By the lock of the client's stack."""
    jars = read_lock(recipe_of(CLIENTS)).jars
    jar = next(name for name in jars if name.startswith(f"{artifact}-"))
    version = re.search(r"-(\d[\d.]*\d)", jar)
    return StoreSoftware(title, version[1] if version else "unknown", jars[jar])
