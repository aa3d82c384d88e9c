"""Carries out an act beside the clients: in a thread, because clients are polled meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError, wait
from dataclasses import dataclass, field
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.stores.act import FIRST_SERVER, TABLE, Act
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.fault import InjectedFault
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.act_under_load.rules import act_on
from density_study.workloads.ycsb.act_under_load.steps import READY_S, STOP_S, empty, restart
from density_study.workloads.ycsb.properties import table_on
from density_study.workloads.ycsb.stores.store_tool import store_command
from density_study.workloads.ycsb.table_tool import TIMEOUT_S, tool_command
from density_study.workloads.ycsb.test_case import YcsbTestCase

Span = tuple[float, float]
"""Begin and end, in epoch seconds."""
NAME = "act"
LONGEST_S = 600.0
"""How long an act may go on after the clients have ended."""
POLL_S = 0.5


@dataclass
class PerformedAct:
    """`prepare` before the clients start; `begin` once while they run; then `finish`, or `stop`."""

    context: TrialContext
    test_case: YcsbTestCase
    _stopped: threading.Event = field(default_factory=threading.Event)
    _done: Future[Span] | None = None

    def prepare(self) -> None:
        if self.act.before:
            run = run_client(
                self.context, self._tool("act-before", self.act.before), TIMEOUT_S, "logs"
            )
            require_success(self.context, run, f"preparing the {self.act.words}")

    def begin(self) -> None:
        """Daemons that will be restarted are known before: from now on, their end is no surprise."""
        now_s = time.time()
        victims = self._victims or [ProcessId("", "", 0, 0)]
        self.context.injected.extend(
            InjectedFault(act=self.act.name, node=one.node, name=one.name, epoch_s=now_s)
            for one in victims
        )
        pool = ThreadPoolExecutor(max_workers=1)
        self._done = pool.submit(self._perform)
        pool.shutdown(wait=False)

    def finish(self) -> None:
        """Wait until it is done, and note when it began and ended. StudyError if it failed."""
        if self._done is None:
            return
        try:
            begun_s, ended_s = self._done.result(LONGEST_S * self.context.timeout_scale)
        except TimeoutError as error:
            raise StudyError(
                f"the {self.act.words} was not over {LONGEST_S:g} s after the clients ended.",
                self.context.record.root.name,
                "give the trial a longer duration, or a smaller table.",
            ) from error
        times = {"epoch_s": begun_s, "until_epoch_s": ended_s}
        self.context.injected[:] = [one.model_copy(update=times) for one in self.context.injected]

    def stop(self) -> None:
        """Begin no other step, and wait for the one that is under way, so that what looks at the cluster next
        sees none half done. One that takes longer than any may goes on, and the journal says so."""
        self._stopped.set()
        if self._done is None:
            return
        limit_s = (STOP_S + READY_S) * self.context.timeout_scale
        if wait((self._done,), limit_s).not_done:
            tag, name = self.context.cluster.site.tag, self.act.name
            self.context.journal.write("act-not-over", tag=tag, act=name, waited_s=limit_s)

    @property
    def act(self) -> Act:
        assert self.test_case.fault is not None and self.test_case.fault.act is not None
        found = act_on(self.context.cluster.topology, self.test_case.fault.act)
        assert found is not None  # others are left out of the plan
        return found

    @property
    def _victims(self) -> list[ProcessId]:
        role, every = self.act.restarts, self.context.cluster.processes
        return [one for one in every if role and one.name.startswith(role)]

    def _perform(self) -> Span:
        begun_s = time.time()
        if self.act.restarts:
            restart(self.context, self._victims, self._stopped)
        elif self.act.empties:
            empty(self.context, self._stopped)
        else:
            return self._run_tool(begun_s)
        return begun_s, time.time()

    def _run_tool(self, begun_s: float) -> Span:
        """The span is that of the tool's commands, without the start of its JVM where they say how long they
        took."""
        logs, node = self.context.record.root / "logs", self.context.cluster.topology.client
        out, err = (logs / f"{NAME}.{end}" for end in ("out", "err"))
        process = self.context.transport.start(node, self._tool(NAME, self.act.tool), out, err)
        code = self._wait(process)
        ended_s = time.time()
        for stream in (out, err):
            self.context.transport.fetch(node, stream, stream)
        if code != 0:
            raise StudyError(
                f"{self.act.words}: this failed: {_end(err)}",
                self.context.record.root.name,
                f"read logs/{NAME}.err of the record.",
            )
        took_s = _seconds(out.read_text(encoding="utf-8"))
        return (begun_s if took_s is None else ended_s - took_s), ended_s

    def _wait(self, process: ProcessId) -> int | None:
        while not self._stopped.is_set():
            try:
                return self.context.transport.wait(process, POLL_S)
            except TimeoutError:
                continue
        self.context.transport.stop(process)
        return None

    def _tool(self, name: str, commands: Sequence[tuple[str, ...]]) -> Command:
        cluster = self.context.cluster
        known = {
            TABLE: table_on(cluster, self.test_case),
            FIRST_SERVER: cluster.endpoints.one("regionserver.http"),
        }
        words = [tuple(known.get(word, word) for word in command) for command in commands]
        if cluster.topology.store.restores:
            return tool_command(cluster, name, *words)
        return store_command(cluster, name, known[TABLE], *(word for one in words for word in one))


def _seconds(text: str) -> float | None:
    """What the commands took together; None if the tool does not say."""
    found = [json.loads(line).get("seconds") for line in text.splitlines() if line.startswith("{")]
    return None if not found or None in found else sum(found)


def _end(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")[-500:]
