"""`pytest --forks N`: N processes run the tests. They are forked once all tests are collected, so imports and
collection, half a minute of a core for the whole suite, are paid for once.

The tests of a group run in one process and in order: they share fixtures and ports. A process takes the next
group when it begins the last test of its own. If a process dies, its test has failed, and so have those that
nobody ran.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from multiprocessing import Pipe, Value
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

Group = Sequence[pytest.Item]


class Sender:
    """In a process of tests: hands what pytest reports to the first process, which shows and counts it."""

    def __init__(self, config: pytest.Config, to: Connection) -> None:
        self.config, self.to = config, to

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.to.send(("began", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self.config.hook.pytest_report_to_serializable
        self.to.send(("report", hook(config=self.config, report=report)))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.to.send(("ended", nodeid))


def run(session: pytest.Session, groups: Sequence[Group], processes: int) -> None:
    """All tests of the groups, in so many processes."""
    taken = Value("i", 0)
    folder = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    children: dict[Connection, int] = {}
    for number in range(processes):
        receiver, sender = Pipe(duplex=False)
        child = os.fork()
        if not child:
            for other in (*children, receiver):
                other.close()
            try:
                _separate(session.config, sender, folder / f"process-{number}")
                _run_groups(session, groups, taken)
            except BaseException:
                sender.send(("died", traceback.format_exc()))
            finally:
                os._exit(0)  # what is registered for the end of a process is of the first one
        sender.close()
        children[receiver] = child
    try:
        _follow(session, groups, dict(children))
    except BaseException:
        for receiver, child in children.items():
            receiver.close()  # it may wait to be heard
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGINT)  # its fixtures stop what they started
        raise
    finally:
        for child in children.values():
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _separate(config: pytest.Config, sender: Connection, folder: Any) -> None:
    """This process writes nothing to the terminal, and shares no file with the others."""
    plugins = config.pluginmanager
    terminal, capture = map(plugins.getplugin, ("terminalreporter", "capturemanager"))
    terminal._tw._file = open(os.devnull, "w")  # noqa: SIM115, PTH123
    capture.stop_global_capturing()
    capture.start_global_capturing()
    factory = config._tmp_path_factory  # type: ignore[attr-defined]
    factory._given_basetemp, factory._basetemp = folder, None
    plugins.register(Sender(config, sender))


def _run_groups(session: pytest.Session, groups: Sequence[Group], taken: Any) -> None:
    def items() -> Iterator[pytest.Item | None]:
        while True:
            with taken.get_lock():
                number, taken.value = taken.value, taken.value + 1
            if number >= len(groups):
                yield None
                return
            yield from groups[number]

    try:
        for item, following in pairwise(items()):
            assert item is not None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    finally:
        session._setupstate.teardown_exact(None)


def _follow(
    session: pytest.Session, groups: Sequence[Group], children: dict[Connection, int]
) -> None:
    hook = session.config.hook
    why = "its process died, or none was left to run it"
    left = {item.nodeid: item for group in groups for item in group}
    while children:
        for receiver in wait(list(children)):
            assert isinstance(receiver, Connection)
            try:
                what, about = receiver.recv()
            except EOFError:
                del children[receiver]
                continue
            if what == "report":
                report = hook.pytest_report_from_serializable(config=session.config, data=about)
                hook.pytest_runtest_logreport(report=report)
            elif what == "died":
                why = about
            elif what == "began":
                hook.pytest_runtest_logstart(nodeid=about, location=left[about].location)
            else:
                location = left.pop(about).location
                hook.pytest_runtest_logfinish(nodeid=about, location=location)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    for nodeid, item in left.items():
        failed = pytest.TestReport(nodeid, item.location, {}, "failed", why, "call")
        hook.pytest_runtest_logreport(report=failed)
