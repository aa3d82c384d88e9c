"""A machine of namespaces on which an ordinary user tries to become root by sudo.

Its sudo is the real one. Its users, rules, network, interrupts and the settings of its kernel that are
written are its own; systemd-run, nft, tc and ip record what they were started with and do nothing. Run as
root: python machine.py FOLDER, which has `attempts.json`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

USER, UID = "study", 61500
SECRET = "a-line-of-a-file-that-root-alone-may-read"
SETTINGS = {
    "irq/9/smp_affinity_list": "1",
    "irq/10/smp_affinity_list": "1",
    "cpu/cpu12/cpufreq/scaling_governor": "powersave",
    "cpu/cpu13/cpufreq/scaling_governor": "powersave",
    "timer_migration": "1",
}
"""Files in the folder that stand for the kernel's, and their texts before the first attempt."""
ATTEMPT_S = 120.0
"""One that takes longer hangs; thousands take as long as the machine is busy."""
RECORDED = ("systemd-run", "nft", "tc", "ip", "unshare")
RECORDER = """#!/usr/bin/python3 -IS
import json, os, sys
stdin = sys.stdin.read() if sys.argv[0].endswith("nft") else ""
with open("{log}", "a") as log:
    print(json.dumps([os.geteuid(), sys.argv, stdin, sorted(os.environ)]), file=log)
"""


@dataclass(frozen=True)
class Outcome:
    """Of one attempt: exit code, output, and of each recorded program uid, argv, stdin and the names in its
    environment."""

    code: int
    output: str
    recorded: list[tuple[int, list[str], str, list[str]]] = field(default_factory=list)

    @property
    def as_root(self) -> list[list[str]]:
        return [argv for uid, argv, *_ in self.recorded if uid == 0]


def tried(
    folder: Path, sudoers: str, installer: str, attempts: list[dict[str, Any]]
) -> list[Outcome]:
    """The outcome of each attempt: {"argv": [...], "env": {...}, "stdin": "..."}."""
    given = {"sudoers": sudoers, "installer": installer, "attempts": attempts}
    (folder / "attempts.json").write_text(json.dumps(given))
    inside = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
    argv = [*inside, sys.executable, __file__, str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [Outcome(*one) for one in json.loads((folder / "outcomes.json").read_text())]


def missing() -> str:
    """What this machine lacks for it; empty if nothing."""
    if os.getuid() != 0:
        return "needs root"
    lacking = [one for one in ("sudo", "visudo", "unshare", "setpriv") if not shutil.which(one)]
    return f"needs {', '.join(lacking)}" if lacking else ""


def _main(folder: Path) -> None:
    given = json.loads((folder / "attempts.json").read_text())
    log = folder / "log"
    _furnish(folder, given["sudoers"], log)
    if given["installer"]:
        subprocess.run(["sh"], input=given["installer"], text=True, check=True)
    outcomes = []
    for attempt in given["attempts"]:
        log.write_text("")
        log.chmod(0o666)
        become = ("setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--")
        done = subprocess.run(
            [*become, *attempt["argv"]],
            input=attempt.get("stdin", "").encode(),
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **attempt.get("env", {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder / "home",
            check=False,
            timeout=ATTEMPT_S,
        )
        recorded = [json.loads(line) for line in log.read_text().splitlines()]
        outcomes.append((done.returncode, done.stdout.decode(errors="replace"), recorded))
    (folder / "outcomes.json").write_text(json.dumps(outcomes))


def _furnish(folder: Path, sudoers: str, log: Path) -> None:
    _run("mount", "--make-rprivate", "/")
    _run("mount", "-t", "sysfs", "sysfs", "/sys")  # of the own network
    etc, programs = folder / "etc", folder / "programs"
    for made in (etc / "sudoers.d", programs, folder / "lib", folder / "home"):
        made.mkdir(parents=True)
    os.chown(folder / "home", UID, UID)
    for path in (folder, *folder.parents[:-1]):
        path.chmod(path.stat().st_mode | 0o011)
    for name, text in SETTINGS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "secret").write_text(SECRET)
    (folder / "secret").chmod(0o600)
    for name in ("passwd", "group"):
        text = Path(f"/etc/{name}").read_text()
        entry = ":/home/study:/bin/sh" if name == "passwd" else ""
        (etc / name).write_text(f"{text}\n{USER}:x:{UID}:{f'{UID}:' if entry else ''}{entry}\n")
    (etc / "shadow").write_text(f"root:*:1:0:99999:7:::\n{USER}:*:1:0:99999:7:::\n")
    (etc / "sudoers").write_text(f"root ALL=(ALL) ALL\n{sudoers}@includedir /etc/sudoers.d\n")
    (etc / "sudoers").chmod(0o440)
    (etc / "pam.d").mkdir()
    (etc / "pam.d" / "sudo").write_text(
        "".join(f"{kind} required pam_permit.so\n" for kind in ("auth", "account", "session"))
    )
    _run("ip", "tuntap", "add", "dev", "tap0", "mode", "tap")  # a card that coalesces by rx-frames
    for name in RECORDED:
        (programs / name).write_text(RECORDER.format(log=log))
        (programs / name).chmod(0o755)
    for real in ("/usr/bin", "/usr/sbin"):
        _run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={programs}:{real}", real)
    for name in ("passwd", "group", "shadow", "sudoers"):
        if not Path(f"/etc/{name}").exists():
            continue
        _run("mount", "--bind", str(etc / name), f"/etc/{name}")
    _run("mount", "--bind", str(etc / "sudoers.d"), "/etc/sudoers.d")
    _run("mount", "--bind", str(etc / "pam.d"), "/etc/pam.d")
    _run("mount", "--bind", str(folder / "lib"), "/usr/local/lib")
    _run("mount", "--bind", str(folder / "irq"), "/proc/irq")
    _run("mount", "--bind", str(folder / "cpu"), "/sys/devices/system/cpu")
    _run("mount", "--bind", str(folder / "timer_migration"), "/proc/sys/kernel/timer_migration")


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
