"""Who else may run programs on this machine."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")
FIRST_UID, LAST_UID = 1000, 60000
"""User ids of people. Lower ones are the system's own (login.defs of Debian and RHEL)."""
_NO_LOGIN = ("nologin", "false", "sync")


def other_people(proc: Path = PROC, accounts: Iterable[pwd.struct_passwd] | None = None) -> str:
    """In words; empty if there is only this user. Root and the system's own accounts do not count."""
    known = list(pwd.getpwall() if accounts is None else accounts)
    names = {one.pw_uid: one.pw_name for one in known}
    logins = {one.pw_uid for one in known if Path(one.pw_shell or "/bin/sh").name not in _NO_LOGIN}
    running = {path.stat().st_uid for path in proc.glob("[0-9]*") if path.exists()}
    found = [
        f"{names.get(uid, uid)} ({'has processes' if uid in running else 'may log in'})"
        for uid in sorted(logins | running)
        if uid != os.geteuid() and FIRST_UID <= uid <= LAST_UID
    ]
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(found[:5]) + more
