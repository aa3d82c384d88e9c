"""Timeouts depend on the guests in the build's journal."""

from __future__ import annotations

from pathlib import Path

from density_study.cluster.state.journal import Journal
from density_study.cluster.state.timeout_scale import EMULATED, acceleration, timeout_scale


def test_only_emulated_guests_of_this_build_have_longer_timeouts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert timeout_scale("s/r/b1", journal) == 1.0
    journal.write("acceleration", tag="s/r/b1", uri="qemu:///system", accel="kvm", why="")
    assert timeout_scale("s/r/b1", journal) == 1.0
    journal.write("acceleration", tag="s/r/b2", uri="qemu:///system", accel="tcg", why="")
    assert timeout_scale("s/r/b1", journal) == 1.0
    assert timeout_scale("s/r/b2", journal) == EMULATED > 1
    assert acceleration("s/r/b2", journal) == {"qemu:///system": "tcg"}
