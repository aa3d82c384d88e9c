"""What others see of a run under way: the program that is its hook, and who scrapes its metrics."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import requests

from density_study.workloads.execution.hooks import Moment
from tests.live.support.command import STUDY, end_with_parent, environment

START_S = 60.0
EVERY_S = 0.5


@dataclass(frozen=True)
class Call:
    """One call of the hook, in epoch seconds."""

    t: float
    moment: Moment


@dataclass(frozen=True)
class HookProgram:
    """A program that writes down each of its calls in `folder`."""

    folder: Path

    @property
    def path(self) -> Path:
        path = self.folder / "hook"
        if not path.exists():
            path.write_text(
                f'#!/bin/sh\n{{ date +%s.%N; printf "%s\\n" "$@"; }} | paste -sd, >> {self._calls}\n'
            )
            path.chmod(0o755)
        return path

    @property
    def _calls(self) -> Path:
        return self.folder / "calls"

    def calls(self) -> tuple[Call, ...]:
        lines = (line.split(",") for line in self._calls.read_text().splitlines())
        return tuple(Call(float(t), Moment(*words)) for t, *words in lines)


@contextmanager
def scraped(run: Path, runs: Path) -> Iterator[list[str]]:
    """Pages of `study watch --metrics`, two a second. Afterwards the run has ended well."""
    pages: list[str] = []
    argv = [str(STUDY), "watch", str(run), "--runs", str(runs), "--metrics"]
    shown = runs / "watched"
    with shown.open("w") as out:
        watch = subprocess.Popen(
            argv,
            stdout=out,
            stderr=subprocess.STDOUT,
            preexec_fn=end_with_parent,
            env=environment(runs),
        )
    over = Event()
    scraper = Thread(target=_scrape, args=(_address(watch, shown), pages, over))
    scraper.start()
    try:
        yield pages
        assert watch.wait(timeout=30) == 0, shown.read_text()
    finally:
        watch.kill()
        watch.wait()
        over.set()
        scraper.join()


def _address(watch: subprocess.Popen[bytes], shown: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and watch.poll() is None:
        for line in shown.read_text().splitlines(keepends=True):
            if line.startswith("page ") and line.endswith("\n"):
                return f"{line.split()[1]}metrics"
        time.sleep(0.1)
    watch.kill()
    raise AssertionError(f"no page is served: {shown.read_text()}")


def _scrape(address: str, pages: list[str], over: Event) -> None:
    while not over.wait(EVERY_S):
        try:
            answer = requests.get(address, timeout=5)
        except requests.ConnectionError:  # it ended with the run
            return
        if answer.ok:  # else nothing was seen yet
            pages.append(answer.text)
