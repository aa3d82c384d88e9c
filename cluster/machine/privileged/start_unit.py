#!/usr/bin/python3 -IS
"""start-unit UNIT TAG SPEC: a daemon as a transient unit of systemd, as the user who called sudo.

The unit's user and properties are fixed. Its process runs as that user from its first instruction: it reads
SPEC, the description of the daemon, and becomes the daemon.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence

UNIT = r"density-study-[A-Za-z0-9.-]{1,200}\.service"
TAG = r"[A-Za-z0-9_./-]{1,200}"
SPEC = r"/[A-Za-z0-9_./@+-]{1,1000}"
PROPERTIES = ("CPUAccounting=yes", "MemoryAccounting=yes", "IOAccounting=yes")
BECOME = """
import json, os, sys
given = json.load(open(sys.argv[1]))
for number, path in ((1, given["stdout"]), (2, given["stderr"])):
    os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), number)
if given["cwd"]:
    os.chdir(given["cwd"])
os.execve(given["argv"][0], given["argv"], given["env"])
"""


def command(uid: int, words: Sequence[str]) -> list[str] | None:
    """systemd-run's command line; None if the words are not a unit, a tag and a path."""
    forms = (UNIT, TAG, SPEC)
    if len(words) != len(forms) or not all(map(re.fullmatch, forms, words)):
        return None
    unit, tag, spec = words
    return [
        *("/usr/bin/systemd-run", "--quiet", "--collect", f"--uid={uid}"),
        *(f"--unit={unit}", f"--description={tag}"),
        *(f"--property={one}" for one in PROPERTIES),
        *("--", "/usr/bin/python3", "-IS", "-c", BECOME, spec),
    ]


def main() -> None:
    argv = command(int(os.environ.get("SUDO_UID", os.getuid())), sys.argv[1:])
    if argv is None:
        sys.exit("usage: start-unit UNIT TAG SPEC")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
    try:
        done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        sys.exit(f"{argv[0]}: {error.strerror}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
