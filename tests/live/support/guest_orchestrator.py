"""Builds one guest, and kills itself right after a chosen intent.

python -m tests.live.support.guest_orchestrator FOLDER URI IMAGES N: index of the intent, from 0.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from density_study.cluster.providers.libvirt.provider import LibvirtProvider
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.own_runs import PLAN
from tests.live.support.builds import open_build
from tests.live.support.guests import one_guest


class Fatal(Journal):
    """Kills the process, like kill -9, when the chosen intent is on disk and its act has not
    begun."""

    def __init__(self, path: Path, fatal: int) -> None:
        super().__init__(path)
        self.left = fatal

    def write(self, event: str, **fields: Any) -> None:
        super().write(event, **fields)
        if event == "intent":
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, uri: str, images: Path, fatal: int) -> None:
    site, journal = open_build(folder, os.getpid())
    # reap asks no libvirt that the run's plan does not name
    journal.path.with_name(PLAN).write_text(json.dumps({"uri": uri}))
    layout = one_guest(uri, folder, images=images)
    journal = Fatal(journal.path, fatal)
    intent = {"act": "build", "build": site.root.name, "provider": "libvirt", "ports": []}
    journal.write("intent", tag=site.tag, **intent)
    LibvirtProvider().create(site, layout, journal)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
