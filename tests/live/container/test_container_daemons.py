"""Real daemons in containers: one is killed, one is out of memory; both are named, and nothing is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.machine.cgroups import controller, version
from density_study.cluster.model.errors import BringUpError
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.events import Event, PhaseEnded
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged
from tests.live.support.builds import open_build
from tests.live.support.containers import cluster_topology, on_this_machine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def failed_bring_up(folder: Path, when_started: Callable[[Journal, str], None]) -> BringUpError:
    """The error of a bring-up, of which `when_started` gets journal and tag once all daemons are started."""
    before = on_this_machine()
    site, journal = open_build(folder, os.getpid())
    (folder / "disk").mkdir()

    class Watched(Journal):
        def record(self, event: Event) -> None:
            super().record(event)
            if isinstance(event, PhaseEnded) and event.name == "start":
                when_started(self, site.tag)

    try:
        with pytest.raises(BringUpError) as caught:
            bring_up(site, cluster_topology(folder), ensure_stacks(), Watched(journal.path))
    finally:
        tear_down(site, journal)
    assert tagged(site.tag) == []
    assert on_this_machine() == before
    assert list((folder / "disk").iterdir()) == []
    return caught.value


def test_a_daemon_killed_during_bring_up_is_named(tmp_path: Path) -> None:
    def kill(journal: Journal, tag: str) -> None:
        victim = next(entry for entry in journal.read() if _is_start(entry, "datanode"))
        os.kill(victim["pid"], signal.SIGKILL)

    error = failed_bring_up(tmp_path, kill)
    assert error.daemon == "datanode"
    assert "'w1'" in error.where
    assert error.what.startswith("datanode died")
    assert "DataNode" in error.log_tail


def test_a_container_out_of_memory_is_the_named_cause(tmp_path: Path) -> None:
    def squeeze(journal: Journal, tag: str) -> None:
        """A limit just above what the daemons use so early: they will need more."""
        files = ("memory.current", "memory.max")
        if version() == 1:
            files = ("memory.usage_in_bytes", "memory.limit_in_bytes")
        used, limit = (
            controller("memory", container_id(tag, "here", "w1")) / file for file in files
        )
        for _ in range(50):
            with suppress(OSError):  # they grow meanwhile
                limit.write_text(str(int(used.read_text()) + 32 * 2**20))
                return

    error = failed_bring_up(tmp_path, squeeze)
    assert error.what.startswith("container w1 ran out of memory")
    assert "died during bring-up" in error.what


def _is_start(entry: dict[str, Any], name: str) -> bool:
    return bool(entry["event"] == "process-started" and entry["name"] == name)
