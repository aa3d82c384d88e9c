"""Holds one injection for a time: `python -m tests.causes.keeper`, with its order as JSON on standard input.

A process of its own, which undoes it when its time is over, when it is stopped, and when its parent dies.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack

from density_study.cluster.machine.held import held
from tests.causes.injections import INJECTIONS, Target

COMMAND = ("setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-m", "tests.causes.keeper")


def main() -> None:
    """The order: {kind, arguments, target, at_epoch_s, for_s}."""
    order = json.load(sys.stdin)
    undo = ExitStack()

    def begin() -> None:
        time.sleep(max(0.0, order["at_epoch_s"] - time.time()))
        injection = INJECTIONS[order["kind"]]
        undo.enter_context(injection(Target(**order["target"]), **order["arguments"]))

    held(order["for_s"], begin, undo.close)


if __name__ == "__main__":
    main()
