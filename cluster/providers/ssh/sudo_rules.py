"""The script with which an administrator lets a user of a host start what a study needs of root there."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from density_study.cluster.machine.as_root import INSTALLED, source
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import USER

UNITS, CUTS, NETWORKS, QUIET = "start-unit", "cut-network", "set-network", "quiet-host"
FILE = "/etc/sudoers.d/density-study"
_END = "END-OF-PROGRAM"
_SCRIPT = """\
#!/bin/sh
# Run it as root on a host of a study. It installs the programs below for root, and lets the user {user}
# start them by sudo, and nothing else. Each program checks its own arguments.
set -eu
umask 022
[ "$(id -u)" = 0 ] || {{ echo "error: run this script as root" >&2; exit 1; }}
getent passwd {user} >/dev/null || {{ echo "error: there is no user {user} on this host" >&2; exit 1; }}
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
{programs}
cat >"$new/rules" <<'{end}'
{rules}{end}
visudo --check --quiet --file="$new/rules"
install -d -o root -g root -m 0755 {folder}
{installs}
install -o root -g root -m 0440 "$new/rules" {file}
# Rules of earlier versions let the user become root.
if grep -lF -e '--unit=density-study-[' -e 'density_study_[0-9a-f]+$' -e 'tc ^(qdisc|class)' \\
    -e 'tee ^/proc/irq' /etc/sudoers /etc/sudoers.d/* 2>/dev/null; then
    echo "error: remove the rules of an earlier version of density-study from these files" >&2
    exit 1
fi
echo "{user} may run: {names}"
"""


def rules(user: str, programs: Sequence[str]) -> str:
    """The content of /etc/sudoers.d/density-study."""
    paths = ", ".join(str(INSTALLED / program) for program in programs)
    return f"{user} ALL=(root) NOPASSWD: {paths}\n"


def script(user: str, programs: Sequence[str]) -> str:
    """A POSIX shell script. InputError for a name that may mean more than one user to sudo."""
    if not re.fullmatch(USER, user):
        raise InputError(
            f"{user!r} is not a plain name of a user.",
            "--user",
            "name the user who logs in, in lower-case letters, digits, '.', '_' and '-'.",
        )
    return _SCRIPT.format(
        user=user,
        end=_END,
        folder=INSTALLED,
        file=FILE,
        names=", ".join(programs),
        rules=rules(user, programs),
        programs="\n".join(
            f"cat >\"$new/{program}\" <<'{_END}'\n{source(program)}{_END}" for program in programs
        ),
        installs="\n".join(
            f'install -o root -g root -m 0755 "$new/{program}" {INSTALLED / program}'
            for program in programs
        ),
    )


def sha256(program: str) -> str:
    """The SHA-256 sum that the installed file has if it is this version's."""
    return hashlib.sha256(source(program).encode()).hexdigest()
