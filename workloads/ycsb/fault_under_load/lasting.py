"""`LastingFault`: a host that is cut off, or a disk that is slow, for a time.

A process on the victim's machine makes the change and undoes it: at its time, when it is stopped, or when the
run is reaped. It outlives this program, so that a killed controller leaves no host cut off.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from density_study.cluster.machine import directories, io_limits
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import IoLimits
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.emulation import prove
from density_study.workloads.base.fault import Fault, InjectedFault
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.fault_under_load.processes import victims_of

MARGIN_S = 30.0
NAME = "fault"
_MODULE = "density_study.cluster.machine"


@dataclass
class LastingFault:
    """`begin` it once while the clients run; then `finish`, whatever happened to them."""

    context: TrialContext
    fault: Fault
    proof: dict[str, Any] = field(default_factory=dict)
    _keeper: tuple[Node, ProcessId] | None = None

    def prepare(self) -> None:
        """Measure the limits of a slow disk before the clients start. StudyError if they do not hold."""
        limits = self._limits
        if limits is None:
            return
        path, disk = self._group, self._disk
        self.context.journal.intend("make-io-group", self.context.cluster.site.tag, path=str(path))
        try:
            held = io_limits.make(path, disk, limits)
            reads = io_limits.LimitedReads(path)
            folder = directories.data_dir(self.context.cluster.site, self._node) / "tmp"
            self.proof = {**prove(reads, self._node, str(folder), limits), "held_back": held}
        finally:
            io_limits.remove(path)

    def begin(self) -> None:
        context, node = self.context, self._node
        victims = victims_of(context, self.fault)
        now_s = time.time()
        if self.fault.cut is not None:
            # a daemon that is cut off for long ends itself when it hears what it has missed
            context.injected.extend(
                InjectedFault(cut=self.fault.cut, node=one.node, name=one.name, epoch_s=now_s)
                for one in victims
            )
            host = node.host
            context.journal.intend("cut", context.cluster.site.tag, host=host)
            argv = self._cutting(host)
        else:
            context.injected.append(
                InjectedFault(
                    slow_disk=True, node=node.name, name="", epoch_s=now_s, proof=self.proof
                )
            )
            context.journal.intend("make-io-group", context.cluster.site.tag, path=str(self._group))
            argv = self._slowing([one.pid for one in victims])
        command = Command(NAME, (*context.transport.python(node), "-m", *argv))
        process = context.transport.start(node, command, *self._streams)
        self._keeper = node, process

    def finish(self) -> None:
        """Wait until it is undone, and note when it began and ended. StudyError if it failed."""
        if self._keeper is None:
            return
        node, process = self._keeper
        try:
            code = self.context.transport.wait(process, (self.fault.for_s or 0.0) + MARGIN_S)
        except TimeoutError:
            self.context.transport.stop(process)
            code = None
        self._keeper = None
        for stream in self._streams:
            self.context.transport.fetch(node, stream, stream)
        said = self._said(self._streams[0].read_text(encoding="utf-8"))
        if code != 0 or set(said) != {"begun", "ended"}:
            raise StudyError(
                f"{self.fault.words}: this failed: {self._streams[1].read_text(encoding='utf-8')[-500:]}",
                self.context.record.root.name,
                "read logs/fault.err of the record.",
            )
        # another host's clock may differ: then it began when it was asked for
        asked_s = self.context.injected[0].epoch_s
        shift_s = 0.0 if self.context.transport.same_kernel else asked_s - said["begun"]
        self.context.injected[:] = [
            one.model_copy(
                update={
                    "epoch_s": said["begun"] + shift_s,
                    "until_epoch_s": said["ended"] + shift_s,
                }
            )
            for one in self.context.injected
        ]

    def stop(self) -> None:
        """Undo it now, if it is not undone."""
        if self._keeper is not None:
            self.context.transport.stop(self._keeper[1])
            self._keeper = None

    @staticmethod
    def _said(text: str) -> Mapping[str, float]:
        said: dict[str, float] = {}
        for line in text.splitlines():
            said |= json.loads(line)
        return said

    @property
    def _streams(self) -> tuple[Path, Path]:
        logs = self.context.record.root / "logs"
        return logs / f"{NAME}.out", logs / f"{NAME}.err"

    @property
    def _node(self) -> Node:
        (name,) = {victims_of(self.context, self.fault)[-1].node}
        return next(node for node in self.context.cluster.topology.nodes if node.name == name)

    @property
    def _limits(self) -> IoLimits | None:
        given = self.fault.slow_disk
        return None if given is None else IoLimits(**given.given)

    @property
    def _disk(self) -> Path:
        assert self._node.disk is not None  # every worker has one
        return Path(self._node.disk.path)

    @property
    def _group(self) -> Path:
        return io_limits.group(self.context.cluster.site.tag, f"{self._disk}.slow")

    def _slowing(self, pids: list[int]) -> tuple[str, ...]:
        assert self.fault.slow_disk is not None
        limits = json.dumps(self.fault.slow_disk.given)
        words = (str(self._group), str(self._disk), limits, f"{self.fault.for_s:g}")
        return (f"{_MODULE}.slow_disk", *words, *map(str, pids))

    def _cutting(self, host: str) -> tuple[str, ...]:
        topology = self.context.cluster.topology
        own = next(one for one in topology.hosts if one.name == host)
        used = {node.host for node in topology.nodes} - {host}
        peers = (one.address for one in topology.hosts if one.name in used)
        tag = self.context.cluster.site.tag
        return (
            f"{_MODULE}.network_cut",
            tag,
            f"{self.fault.for_s:g}",
            str(own.target.port),
            *peers,
        )
