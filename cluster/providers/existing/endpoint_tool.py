"""Asks a store of others by StoreTool of the stores' bindings, in a JVM of its own on this machine."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from typing import Any

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.java_tools import TOOL_HEAP_MIB, results_of
from density_study.cluster.model.topology import ExistingTopology
from density_study.cluster.render.jvm import FAST_START, heap_flags
from density_study.cluster.stack import classpath, ensure, find_java
from density_study.cluster.stack.store_software import CLIENTS
from density_study.cluster.stores.store import store_of

STORE_TOOL = "org.densitystudy.stores.StoreTool"
TIMEOUT_S = 600.0  # a large store is walked for the study's keys
_FAILURE = re.compile(r"^(?:Caused by: )?(?:[\w$]+\.)+([\w$]+(?:Exception|Error).*)$", re.MULTILINE)


def endpoint_properties(topology: ExistingTopology) -> dict[str, str]:
    """The settings of the store's clients. The password stays in its file."""
    existing = topology.existing
    assert existing is not None and existing.endpoint is not None
    endpoint, store = existing.endpoint, store_of(topology)
    known = {"endpoint": ",".join(endpoint.addresses), "admin": store.endpoint_admin}
    if endpoint.password_file:
        known |= {"store.user": endpoint.user, "store.password.file": endpoint.password_file}
    if endpoint.ca_file:
        known |= {"store.ca.file": endpoint.ca_file}
    return {**known, **store.endpoint_properties(existing, endpoint)}


def ask_store(properties: Mapping[str, str], *commands: str) -> list[dict[str, Any]]:
    """The result of each command. StudyError if one fails."""
    path = ":".join(classpath(ensure(CLIENTS)))
    pairs = (f"{key}={value}" for key, value in properties.items())
    argv = [str(find_java().command), *heap_flags(TOOL_HEAP_MIB), *FAST_START, "-cp", path]
    argv += [STORE_TOOL, *pairs, "+", *commands]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False
        )
        code, said = done.returncode, _FAILURE.findall(done.stderr) or done.stderr.splitlines()
    except subprocess.TimeoutExpired:
        code, said = None, [f"no answer within {TIMEOUT_S:.0f} s"]
    if code != 0:
        raise StudyError(
            f"the store failed at {', '.join(commands)}: {said[-1] if said else 'no message'}.",
            properties["endpoint"],
            "check that it runs, that this machine reaches it, login and rights, and its certificate.",
        )
    return results_of(done.stdout)
