"""A tutorial, walked as its reader does: the page's own commands and files, in its order, in one folder.

What this machine cannot do as the page says is a `Change`, with its reason, and is printed. A change of words
that the page does not have is an error: the page and its walk cannot part.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.live.support.command import STUDY, end_with_parent, environment, study
from tests.support.pages.blocks import COMMANDS, Block, blocks, printed

PAGES = Path(__file__).parents[3] / "docs"
LIMIT_S = 1100
LATER = ("export ", ". ")
"""Beginnings of commands that change the shell for those after them."""


@dataclass(frozen=True)
class Change:
    """`here` replaces the words `shown` of a command or a file; without words, the command is left out."""

    shown: str
    here: str
    because: str


@dataclass(frozen=True)
class Ended:
    shown: str
    code: int
    output: str

    @property
    def words(self) -> str:
        """The output in one line."""
        return " ".join(self.output.split())


@dataclass
class Walk:
    page: str
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left = list(_steps((PAGES / self.page).read_text(encoding="utf-8")))
        self.ended: list[Ended] = []
        self.shell: list[str] = []

    def until(self, first: str) -> None:
        """Read the page up to the command that begins with `first`, and leave that one."""
        while self.left and not self.left[0][1].startswith(first):
            block, text = self.left.pop(0)
            assert block.language not in COMMANDS, f"{text} comes before {first}"
            self._read(block, text, (), set())

    def to(self, last: str, *changes: Change, may_fail: str = "") -> Ended:
        """Walk up to the command that begins with `last`, or, without a word, to the page's end. Returns how
        that one ended. A command may fail if it begins with `may_fail`."""
        unused = {change.shown for change in changes}
        while self.left:
            block, line = self.left.pop(0)
            if block.language not in COMMANDS:
                self._read(block, line, changes, unused)
                continue
            command = self._changed(line, changes, unused)
            if not command:
                continue
            done = self._run(line, command)
            assert done.code == 0 or (may_fail and line.startswith(may_fail)), done.output[-6000:]
            if last and line.startswith(last):
                break
        else:
            assert not last, f"{self.page} has no command {last} from here on"
        assert not unused, f"{self.page} does not have {sorted(unused)}"
        return self.ended[-1]

    def change(self, file: str, *changes: Change) -> None:
        """Words of a file that the page had the reader write."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        for one in changes:
            assert one.shown in text, f"{file} has no {one.shown}"
            print(f"# {file}: {one.shown!r} -> {one.here!r}, because {one.because}")
            text = text.replace(one.shown, one.here)
        path.write_text(text, encoding="utf-8")

    def _read(self, block: Block, text: str, changes: Sequence[Change], unused: set[str]) -> None:
        if block.file is not None:
            (self.folder / block.file).write_text(text, encoding="utf-8")
            print(f"# saved as {block.file}")
        elif block.language == "text":
            for one in changes:
                unused -= {one.shown} if one.shown in text else set()
                text = text.replace(one.shown, one.here)
            assert printed(text, self.ended[-1].output), f"no {text}\nin {self.ended[-1].output}"

    def _changed(self, line: str, changes: Sequence[Change], unused: set[str]) -> str:
        for one in changes:
            if one.shown not in line:
                continue
            unused -= {one.shown}
            print(f"# {line!r}: {one.here or 'left out'}, because {one.because}")
            line = line.replace(one.shown, one.here) if one.here else ""
        return line

    def _run(self, shown: str, command: str) -> Ended:
        began = time.monotonic()
        script = "\n".join([*self.shell, command])
        done = subprocess.run(
            ["bash", "-ec", script],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
            preexec_fn=end_with_parent,
        )
        print(
            f"$ {command}   # {time.monotonic() - began:.0f} s, exit code {done.returncode}",
            flush=True,
        )
        print(done.stdout, flush=True)
        if command.startswith(LATER):
            self.shell.append(command)
        self.ended.append(Ended(shown, done.returncode, done.stdout))
        return self.ended[-1]

    def _environment(self) -> dict[str, str]:
        path = f"{STUDY.parent}{os.pathsep}{os.environ['PATH']}"
        return {**environment(self.folder / "runs"), "PATH": path, **self.variables}


def _steps(page: str) -> Iterator[tuple[Block, str]]:
    """Each command and each other block, with its text."""
    for block in blocks(page):
        for text in block.commands if block.language in COMMANDS else [block.text]:
            yield block, text


@contextmanager
def walking(page: str, folder: Path, **variables: str) -> Iterator[Walk]:
    """Whatever a killed or failed walk left is removed, by the command that pages name for it."""
    try:
        yield Walk(page, folder, variables)
    finally:
        study("reap", "--runs", str(folder / "runs"), runs=folder / "runs")
