"""Crafted run folders, and what must survive every command on them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from density_study.cluster.state.owner import Owner
from density_study.cluster.state.tags import TAG
from density_study.dags.cli.main import app

TREE = {
    ".bashrc": "alias ls='ls -l'\n",
    "Documents/thesis": "five years of work\n",
    "etc/ssh/ssh_host_key": "secret\n",
    "density-study/victim/r1/b1/node/part": "rows of another study\n",
    "density-study/victim/r1/b1/node/STUDY_TAG": "victim/r1/b1\n",
    "empty/er/est/.keep": "",
}


class Canaries:
    """A tree of files and a process of another study's, which nothing may change, remove or kill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in TREE.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (folder / "hollow" / "low").mkdir(parents=True)
        self.before = state_of(folder)

    def __enter__(self) -> Canaries:
        environment = {**os.environ, TAG: "victim/r1/b1"}
        self.process = subprocess.Popen(["sleep", "600"], env=environment)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def check(self, context: object = "") -> None:
        assert state_of(self.folder) == self.before, context
        assert self.process.poll() is None, context


def state_of(folder: Path) -> dict[str, str]:
    """What each path below `folder` is: its kind, mode, and content or target."""
    found = {}
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(at, name)
            found[str(path.relative_to(folder))] = _state(path)
    return found


def _state(path: Path) -> str:
    mode = path.lstat().st_mode
    if path.is_symlink():
        return f"{mode:o} -> {path.readlink()}"
    if path.is_file():
        return f"{mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return f"{mode:o}"


def dead_owner() -> dict[str, Any]:
    child = subprocess.Popen(["sleep", "60"])
    owner = Owner.of_process(child.pid)
    child.kill()
    child.wait()
    return owner.to_json()


def opened(tag: str, owner: Mapping[str, Any]) -> dict[str, Any]:
    study, _, run = tag.partition("/")
    return {"event": "run-opened", "study": study, "run": run, "tag": tag, "owner": owner}


def intent(act: str, tag: str, **fields: Any) -> dict[str, Any]:
    return {"event": "intent", "act": act, "tag": tag, **fields}


def build(tag: str, provider: str, name: str = "b1", **fields: Any) -> dict[str, Any]:
    return intent("build", f"{tag}/{name}", build=name, provider=provider, ports=[], **fields)


def craft(root: Path, *lines: Mapping[str, Any]) -> Path:
    """A run's folder with a journal of these lines, after an opening by an owner that is dead."""
    root.mkdir(parents=True, exist_ok=True, mode=0o755)
    tag = f"{root.parent.name}/{root.name}"
    return write(root, opened(tag, dead_owner()), *lines)


def write(root: Path, *lines: Mapping[str, Any]) -> Path:
    entries = ({"format": 1, "t": 1.7e9, **line} for line in lines)
    with (root / "journal.jsonl").open("a") as journal:
        journal.writelines(f"{json.dumps(entry)}\n" for entry in entries)
    return root


def study(*arguments: object) -> Result:
    """One command in this process. It may fail, but with a message and never with a traceback."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], standalone_mode=False)
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        assert hasattr(error, "remedy") or hasattr(error, "exit_code"), (arguments, repr(error))
        result.exit_code = getattr(error, "exit_code", 1)
    elif isinstance(result.return_value, int):  # of typer.Exit
        result.exit_code = result.return_value
    return result


def sweep_all(runs: Path, roots: Sequence[Path]) -> None:
    """Every command that looks at run folders or acts on them."""
    study("list", "--runs", runs)
    study("reap", "--runs", runs, "--dry-run")
    study("reap", "--runs", runs)
    for root in roots:
        study("status", root, "--runs", runs)
        study("rm", root, "--runs", runs, "--yes")
