"""`quiet: yes` on this machine's kernel: set, put back, and put back by the journal after kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.quiet_hosts import not_put_back, quieted
from density_study.cluster.lifecycle.tear_down import leftovers_of, tear_down
from density_study.cluster.machine.equality import quiet
from density_study.cluster.model.cluster import Site
from density_study.cluster.state.journal import Journal
from tests.support.topologies import local

pytestmark = [pytest.mark.live, pytest.mark.slow]

TRIAL = """
import sys, time
from pathlib import Path
from density_study.cluster.lifecycle.quiet_hosts import quieted
from density_study.cluster.model.cluster import Site
from density_study.cluster.state.journal import Journal
from tests.support.topologies import local
root = Path(sys.argv[1])
with quieted(Site(root / "b1", "s/r/b1"), local(), Journal(root / "journal.jsonl")):
    print("quiet", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def noise() -> Iterator[dict[str, str]]:
    """What this machine has to change."""
    before = quiet.noisy()
    if os.getuid() != 0 or not before:
        pytest.skip("nothing was made quiet: this needs root, and a setting that makes noise")
    yield before
    quiet.restore(before)


def test_a_trial_is_quiet_and_the_machine_afterwards_as_before(
    noise: dict[str, str], tmp_path: Path
) -> None:
    site, journal = Site(tmp_path / "b1", "s/r/b1"), Journal(tmp_path / "journal.jsonl")
    with quieted(site, local(), journal):
        assert quiet.noisy() == {}
        assert sorted(quiet.changed(noise)) == sorted(noise)
    assert quiet.noisy() == noise


def test_after_kill_9_tear_down_puts_it_back(noise: dict[str, str], tmp_path: Path) -> None:
    argv = [sys.executable, "-c", TRIAL, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "quiet\n"
        child.send_signal(signal.SIGKILL)
    assert quiet.noisy() == {}
    site, journal = Site(tmp_path / "b1", "s/r/b1"), Journal(tmp_path / "journal.jsonl")
    assert len(leftovers_of(site, journal)) == len(noise)
    tear_down(site, journal)
    assert quiet.noisy() == noise and not_put_back(site, journal) == ()
