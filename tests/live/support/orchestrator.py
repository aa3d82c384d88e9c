"""Brings a cluster up and then waits, for a test to kill.

python -m tests.live.support.orchestrator FOLDER [STORE DURABILITY]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.model.store import default_store, store_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state import lease
from density_study.cluster.state.owner import Owner
from tests.live.support.builds import open_build, topology

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    site, journal = open_build(folder, os.getpid())
    root, tag = site.root.parents[1], site.tag.rpartition("/")[0]
    lease.acquire(tag, root, Owner.of_process(os.getpid()))
    store = store_named(sys.argv[2], sys.argv[3]) if sys.argv[2:] else default_store()
    bring_up(site, topology(folder, store=store), ensure_stacks(store=store), journal)
    time.sleep(600)
