"""`StoreSoftware`: the program or library of a store, as records disclose it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.store import Store
from density_study.cluster.stack.java import Java
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.recipes import recipe_of
from density_study.cluster.stack.stack import classpath, ensure

CLIENTS = "ycsb-stores"
"""The stack with the bindings."""
UNPACKED = "unpacked"
"""For a stack's tree: the folder with programs that its jar holds."""


@dataclass(frozen=True)
class StoreSoftware:
    """`program`: the server's executable; None where the store is a library of its clients, or runs on
    `java`, with `classpath`. `name`: Redis or Valkey, ... `sha256`: that of a program, a jar, or over all
    jars."""

    name: str
    version: str
    sha256: str
    program: Path | None = None
    java: Java | None = None
    classpath: tuple[str, ...] = ()


def jars_of(store: Store, machine: MachineSoftware) -> StoreSoftware:
    """Servers that run on Java, with the jars of the store's own stack. InputError if a part is missing."""
    assert store.stack is not None
    java, stack = machine.java(store.java), ensure(store.stack.name)
    return StoreSoftware(
        store.title, stack.version, stack.jars_sha256, java=java, classpath=classpath(stack)
    )


def library_of_clients(title: str, artifact: str) -> StoreSoftware:
    """The client library `artifact`, with the version and the hash in the lock of the client's stack."""
    jars = read_lock(recipe_of(CLIENTS)).jars
    jar = next(name for name in jars if name.startswith(f"{artifact}-"))
    version = re.search(r"-(\d[\d.]*\d)", jar)
    return StoreSoftware(title, version[1] if version else "unknown", jars[jar])
