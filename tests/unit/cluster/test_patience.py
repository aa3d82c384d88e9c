"""How long is waited follows what the build's journal says of its guests."""

from __future__ import annotations

from pathlib import Path

from cluster.state.journal import Journal
from cluster.state.patience import EMULATED, acceleration, patience


def test_only_emulated_guests_of_this_build_are_waited_for_longer(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert patience("s/r/b1", journal) == 1.0
    journal.write("acceleration", mark="s/r/b1", uri="qemu:///system", accel="kvm", why="")
    assert patience("s/r/b1", journal) == 1.0
    journal.write("acceleration", mark="s/r/b2", uri="qemu:///system", accel="tcg", why="")
    assert patience("s/r/b1", journal) == 1.0
    assert patience("s/r/b2", journal) == EMULATED > 1
    assert acceleration("s/r/b2", journal) == {"qemu:///system": "tcg"}
