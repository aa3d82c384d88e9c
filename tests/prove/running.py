"""Runs a group in processes of its own, ends all of them, and counts what it saw."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil

from tests.prove.groups import LIMIT_S, ROOT, Group
from tests.prove.ledger import COMPLETE, Entry

GRACE_S = 120.0
"""Fixtures stop clusters and guests within this time."""
ENDING_S = 10.0
"""Processes that end by themselves within this time were not left behind: Spark's JVM, after its client."""
_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def adopt_orphans() -> None:
    """What a child leaves behind becomes a child of this process, which then finds and ends it by its id."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # a shell's background job ignores SIGINT, and so its children
        signal.signal(number, signal.default_int_handler)


def run(group: Group, limit_s: float = LIMIT_S) -> Entry:
    """One run; its log and files stay if it failed. After Ctrl-C it cleans up, and there is no entry."""
    facts: dict[str, Any] = {"group": group.name, "commit": commit(), "machine": machine()}
    facts |= {
        "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "load": round(os.getloadavg()[0], 1),
    }
    packages = [ROOT / "tests" / "packages.sh", group.needs]
    programs = subprocess.run(packages, capture_output=True, text=True, check=False)
    if programs.returncode:
        return Entry(**facts, seconds=0, passed=0, failed=0, skipped={programs.stderr.strip(): 1})
    folder = Path(
        tempfile.mkdtemp(prefix="pv-")
    )  # short: the path of a socket has at most 107 bytes
    folder.chmod(0o711)  # as in /tmp, other users reach what is theirs below it
    began = time.monotonic()
    try:
        ended, left = _carry_out(group, folder, limit_s)
    except KeyboardInterrupt:
        _remove(folder)
        raise
    left += mounts_below(folder)
    seconds = round(time.monotonic() - began, 1)
    if commit() != facts["commit"]:  # files were edited meanwhile
        facts["commit"] = facts["commit"].rstrip("+") + "+"
    entry = Entry(**facts, **counted(folder), seconds=seconds, ended=ended, left=tuple(left))
    if entry.outcome == "failed":
        print(f"{group.name}: log and files are in {folder}", flush=True)
    else:
        _remove(folder)
    return entry


def _carry_out(group: Group, folder: Path, limit_s: float) -> tuple[str, list[str]]:
    """How it ended, and the names of the processes that it left."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(group.command(folder), cwd=ROOT, env=environment, stdout=log,
                                   stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
    try:
        code = _wait(process, limit_s)
        complete = code == 0 or (code == 1 and bool(group.tests))  # pytest: some failed
        return (COMPLETE if complete else f"exit code {code}"), end_children()
    except TimeoutError:
        return f"stopped after {limit_s / 60:g} min", _stop(process)
    except KeyboardInterrupt:
        _stop(process)
        raise


def _wait(process: subprocess.Popen[bytes], limit_s: float) -> int:
    """Its exit code. Meanwhile it reaps orphans that end, as init would: tests look whether they are gone."""
    signal.signal(signal.SIGALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        while process.returncode is None:
            pid, status = os.waitpid(-1, 0)
            if pid == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _time_is_up(*_: object) -> None:
    raise TimeoutError


def _stop(process: subprocess.Popen[bytes]) -> list[str]:
    """Lets its fixtures clean up, as after Ctrl-C, and ends what is left then."""
    process.send_signal(signal.SIGINT)
    try:
        _wait(process, GRACE_S)
    except TimeoutError:
        process.kill()
        process.wait()
    return end_children()


def end_children() -> list[str]:
    """Ends every descendant of this process by its id; returns the names of those that lived, and did not end
    by themselves within ENDING_S."""
    psutil.wait_procs(psutil.Process().children(recursive=True), timeout=ENDING_S)
    names: list[str] = []
    while children := psutil.Process().children(recursive=True):
        names += [child.name() for child in children if child.status() != psutil.STATUS_ZOMBIE]
        for child in children:
            child.terminate()
        for child in psutil.wait_procs(children, timeout=10)[1]:
            child.kill()
    return names


def _remove(folder: Path) -> None:
    """Unless something is mounted there, which may show files of others."""
    if not mounts_below(folder):
        shutil.rmtree(folder, ignore_errors=True)


def mounts_below(folder: Path) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [line.split()[4] for line in lines if line.split()[4].startswith(f"{folder}/")]


def counted(folder: Path) -> dict[str, Any]:
    """passed, failed, failures and skipped; passed and failed are None where the group wrote no result."""
    passed, failures, reasons = 0, [], Counter[str]()
    if (folder / "result.xml").exists():
        for case in ElementTree.parse(folder / "result.xml").iter("testcase"):
            if case.get("name") is None:  # a test that was under way when pytest was stopped
                continue
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                failures.append(f"{case.get('classname')}::{case.get('name')}")
            elif skipped is not None:
                reasons[skipped.get("message") or "without a reason"] += 1
            else:
                passed += 1
    elif (folder / "result.json").exists():
        goals = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        failures = [what for what, holds in goals if not holds]
        passed = len(goals) - len(failures)
    else:
        return {"passed": None, "failed": None}
    return {"passed": passed, "failed": len(failures), "failures": failures, "skipped": reasons}


def commit() -> str:
    def git(*arguments: str) -> str:
        argv = ["git", *arguments, "--", ".", ":!docs/proof"]
        return subprocess.run(
            argv, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    return git("log", "-1", "--format=%h") + ("+" if git("status", "--porcelain") else "")


def machine() -> str:
    """What decides whether a test can run, without the name of a host."""
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', release, re.MULTILINE)
    parts = [f"{os.cpu_count()} CPUs", f"{psutil.virtual_memory().total / 2**30:.0f} GiB"]
    parts += [
        system[1] if system else "Linux",
        "/dev/kvm" if os.access("/dev/kvm", os.W_OK) else "no KVM",
    ]
    return ", ".join([*parts, "root" if os.geteuid() == 0 else "a user"])
