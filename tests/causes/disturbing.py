"""Injects a disturbance into a trial while it runs."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, cast

from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.model.cluster import Cluster, read_cluster
from density_study.cluster.model.topology import Node
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.state.events import ContainerUp, TrialState
from density_study.cluster.state.tags import tagged
from density_study.workloads.execution.run import Run
from density_study.workloads.planning.plan import Step
from density_study.workloads.ycsb.properties import table_on
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.causes.disturbance import HERE, Disturbance
from tests.causes.injections import INJECTIONS, Target, sent_bytes
from tests.causes.keeper import COMMAND
from tests.live.support.java_client import compiled
from tests.prove.groups import ROOT

AHEAD_S = 4.0
"""A program that disturbs starts this long before: its own start disturbs nobody. The client runs by then."""
LASTS_FROM_S = 0.5
LONGEST_S = 600.0
QUIET_TRIALS = "quiet.jsonl"
_LOOK_S = 0.1
_ENDS_WITHIN_S = 30.0
Stop = Callable[[], str]
"""Ends what disturbs, and returns its output."""


class NotDisturbedError(Exception):
    """The injection failed, or the trial was over before."""


@contextmanager
def disturbing(run: Run, step: Step, disturbance: Disturbance | None) -> Iterator[None]:
    """Disturbs the trial that runs in the block, or measures what a quiet one does. NotDisturbedError at its
    end if that failed."""
    if not step.trial:
        yield
        return
    one = _Disturbing(run, step, disturbance)
    thread = threading.Thread(target=one.act, daemon=True)
    thread.start()
    try:
        yield
    finally:
        one.over.set()
        thread.join()
    if one.failure is not None:
        raise NotDisturbedError("it was not disturbed") from one.failure


class _Disturbing:
    def __init__(self, run: Run, step: Step, disturbance: Disturbance | None) -> None:
        self.over = threading.Event()
        self.failure: Exception | None = None
        self._run, self._step, self._disturbance = run, step, disturbance

    def act(self) -> None:
        try:
            if not self._reached("running"):
                return
            if self._disturbance is None:
                self._measure()
            else:
                self._disturb(self._disturbance)
        except Exception as error:  # of a thread: raised by who waits for it
            self.failure = error

    def _measure(self) -> None:
        tag = self._run.site(self._step.build).tag
        ups = [up for up in self._run.journal.since_opening(ContainerUp) if up.tag == tag]
        begun_s, before = time.monotonic(), {up.node: sent_bytes(up.pid) for up in ups}
        if not self._reached("settling"):
            return
        length_s = time.monotonic() - begun_s
        rates = {up.node: (sent_bytes(up.pid) - before[up.node]) / length_s for up in ups}
        with (self._run.root / QUIET_TRIALS).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"length_s": length_s, "sent_bytes_s": rates}) + "\n")

    def _disturb(self, disturbance: Disturbance) -> None:
        at_s = LASTS_FROM_S
        if not disturbance.lasts:
            at_s = disturbance.at_s(quiet_trial(self._run)["length_s"])
        at_epoch_s = time.time() + at_s
        for_s = LONGEST_S if disturbance.lasts else disturbance.for_s
        self.over.wait(max(0.0, at_s - AHEAD_S))
        cluster = read_cluster(self._run.site(self._step.build).root)
        start = self._keeper if disturbance.kind in INJECTIONS else self._meddler
        stop = start(disturbance, cluster, at_epoch_s, for_s)
        try:
            self._reached("settling", within_s=at_epoch_s + for_s + 1 - time.time())
        finally:
            said = stop()
        facts = {"trial": self._step.trial}
        for line in said.splitlines():
            facts |= json.loads(line)
        with (self._run.root / "disturbed.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")
        if "begun" not in facts:
            raise RuntimeError(f"it never began: {said}")

    def _reached(self, state: str, within_s: float = float("inf")) -> bool:
        """Waits for a state of the trial, for the time, or for its end."""
        until_s = time.monotonic() + within_s
        while not self.over.wait(_LOOK_S) and time.monotonic() < until_s:
            states = self._run.journal.since_opening(TrialState)
            if any((one.trial, one.state) == (self._step.trial, state) for one in states):
                return True
        return False

    def _keeper(
        self, disturbance: Disturbance, cluster: Cluster, at_epoch_s: float, for_s: float
    ) -> Stop:
        order = {
            "kind": disturbance.kind, "arguments": disturbance.arguments,
            "target": asdict(target_of(self._run, cluster)), "at_epoch_s": at_epoch_s, "for_s": for_s,
        }  # fmt: skip
        keeper = subprocess.Popen(
            COMMAND, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert keeper.stdin is not None
        keeper.stdin.write(json.dumps(order))
        keeper.stdin.close()
        keeper.stdin = None

        def stop() -> str:
            keeper.terminate()  # without effect if its time is over
            said, _ = keeper.communicate(timeout=_ENDS_WITHIN_S)
            if keeper.returncode not in (0, 128 + signal.SIGTERM):
                raise RuntimeError(f"the keeper failed with {keeper.returncode}")
            return said

        return stop

    def _meddler(
        self, disturbance: Disturbance, cluster: Cluster, at_epoch_s: float, for_s: float
    ) -> Stop:
        test_case = cast(YcsbTestCase, self._step.test_case)
        given = dict(disturbance.arguments)
        words = (disturbance.kind, table_on(cluster, test_case), f"{1000 * at_epoch_s:.0f}",
                 f"{1000 * for_s:.0f}", str(given.get("threads", 1)),
                 f"{1000 * given.get('every_s', 0):.0f}")  # fmt: skip
        command = java_command(
            cluster, "meddler", classes_of(self._run), "Meddle", words, serial(256)
        )
        transport = provider_of(cluster.topology).transport(cluster.site, self._run.journal)
        folder = cluster.site.root / "logs"
        out, err = (folder / f"meddler-{self._step.trial}.{end}" for end in ("out", "err"))
        process = transport.start(cluster.topology.client, command, out, err)

        def stop() -> str:
            transport.stop(process)
            return out.read_text(encoding="utf-8")

        return stop


def target_of(run: Run, cluster: Cluster) -> Target:
    tag, topology = cluster.site.tag, cluster.built
    ups = [up for up in run.journal.since_opening(ContainerUp) if up.tag == tag]
    java = [one for one in tagged(tag) if one.name == "java"]
    clients = {f"{one.node}/client": one.pid for one in java if one.node == topology.client.name}
    worker = topology.workers[0]
    assert worker.disk is not None
    return Target(
        daemons={f"{one.node}/{one.name}": one.pid for one in cluster.processes} | clients,
        nodes={up.node: up.pid for up in ups},
        groups={node.name: _group(tag, node) for node in topology.nodes},
        disk=worker.disk.path,
        sent_bytes_s=quiet_trial(run)["sent_bytes_s"],
    )


def quiet_trial(run: Run) -> dict[str, Any]:
    """What the run's last quiet trial did: its `length_s`, and `sent_bytes_s` by node. The first trial is
    quiet."""
    *_, last = (run.root / QUIET_TRIALS).read_text(encoding="utf-8").splitlines()
    found: dict[str, Any] = json.loads(last)
    return found


def _group(tag: str, node: Node) -> str:
    return container_id(tag, node.host, node.name)


def answering(run: Run) -> None:
    """Lets JVMs in containers answer commands, as they do by a socket in /tmp, which is read-only there."""
    for up in run.journal.since_opening(ContainerUp):
        inside = ("nsenter", "--target", str(up.pid), "--mount", "--")
        subprocess.run(
            [*inside, "mount", "-t", "tmpfs", "-o", "size=1m", "tmp", "/tmp"], check=True
        )


def classes_of(run: Run) -> list[str]:
    """Meddle and what it needs, compiled once per run: before its trials, as a compiler disturbs them."""
    folder = run.root / "meddle"
    path = folder / "class-path.json"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        path.write_text(json.dumps(compiled(folder, "Meddle", within=HERE)), encoding="utf-8")
    found: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return found
