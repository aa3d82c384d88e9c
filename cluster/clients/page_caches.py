"""Work on the page caches of a cluster's machines: a process on each, all at once, watched until it ends.

A call of a transport has a minute. A machine with 256 GB may take longer to write out dirty pages, or to drop
cached ones.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.machine import page_cache
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId, Transport

_LOOK_S = 5.0


@dataclass(frozen=True)
class CacheWork:
    """Processes that print a number at their end. `limit_s`: how long they may take."""

    transport: Transport
    begun_s: float
    limit_s: float
    processes: tuple[tuple[Node, ProcessId, Path], ...]

    def numbers(self) -> list[float] | None:
        """Wait for all of them; what each printed. None if one failed, or did not end within the limit."""
        found = [self._number_of(*one) for one in self.processes]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) else None

    def _number_of(self, node: Node, process: ProcessId, out: Path) -> float | None:
        # not stopped past the limit: nothing can stop a sync
        while (left_s := self.begun_s + self.limit_s - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                if self.transport.wait(process, min(_LOOK_S, left_s)) != 0:
                    return None
                self.transport.fetch(node, out, out)
                return float(out.read_text().splitlines()[-1])  # an earlier one also wrote there
        return None


def begin(
    transport: Transport,
    name: str,
    arguments: Iterable[tuple[Node, tuple[str, ...]]],
    logs: Path,
    limit_s: float,
) -> CacheWork:
    """Start `page_cache` on each node with its arguments; output is below `logs`, as `name` and the node."""
    processes = []
    for node, words in arguments:
        out, err = (logs / f"{name}-{node.name}.{end}" for end in ("out", "err"))
        argv = (*transport.python(node), "-m", page_cache.__name__, *words)
        started = transport.start(node, Command(name, argv), out, err)
        processes.append((node, started, out))
    return CacheWork(transport, time.monotonic(), limit_s, tuple(processes))
