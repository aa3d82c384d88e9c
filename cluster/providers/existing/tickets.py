"""Kerberos tickets for the clients of an existing cluster, by MIT's kinit, klist and kvno."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from density_study.cluster.model.access import Access
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import Kerberos
from density_study.cluster.state.plain_file import check_owner

PROGRAMS = {"kinit": "krb5-user", "klist": "krb5-user", "kvno": "krb5-user", "curl": "curl"}
"""And the Debian packages that have them."""
DEFAULT_CONF = "/etc/krb5.conf"
_KEY = ("existing", "kerberos")
_TIME = "%m/%d/%y %H:%M:%S"  # klist's in the C locale
_TICKET = re.compile(r"^(\S+ \S+)  (\S+ \S+)  krbtgt/\S+(?:\n\s+renew until (\S+ \S+))?", re.M)
_FAULTS = (
    ("Clock skew too great",
     "the clocks of this machine and of the KDC differ by more than Kerberos allows.",
     "set this machine's clock, for example by chrony or systemd-timesyncd."),
    ("Cannot find KDC for realm",
     "no KDC of its realm is known.",
     "correct the realm, or name its KDC in {krb5_conf}."),
    ("Cannot contact any KDC",
     "the KDC of its realm does not answer.",
     "check that this machine reaches the KDC that {krb5_conf} names."),
    ("Keytab contains no suitable keys",
     "the keytab {keytab} has no key of it.",
     "correct existing.kerberos.principal: `klist -k {keytab}` shows whose keys are there."),
    ("key table",
     "{keytab} is not a keytab.",
     "correct existing.kerberos.keytab."),
    ("Preauthentication failed",
     "the KDC has another key of it than the keytab {keytab}.",
     "ask for the keytab again: a new export replaces the keys of earlier ones."),
    ("Ticket expired",
     "its ticket is expired.",
     "run kinit, or name a keytab in existing.kerberos."),
    ("Server krbtgt/",
     "its realm and the cluster's do not trust each other.",
     "use a principal of the cluster's realm."),
    ("Server ",
     "the KDC does not know the cluster's NameNode.",
     "correct dfs.namenode.kerberos.principal in hdfs-site.xml, or the realm in {krb5_conf}."),
    ("not found in Kerberos database",
     "the KDC does not know it.",
     "correct existing.kerberos.principal."),
)  # fmt: skip
"""What the programs say, what it means, and the remedy. The first one that fits counts."""


@dataclass(frozen=True)
class Ticket:
    """A ticket-granting ticket in the file `cache`. Times in epoch seconds; `renewable_s`: at the latest."""

    cache: str
    principal: str
    end_s: float
    renewable_s: float


def krb5_conf_of(kerberos: Kerberos) -> str:
    """The configuration for all clients. InputError if it is not one file: Java reads one."""
    path = kerberos.krb5_conf or os.environ.get("KRB5_CONFIG") or DEFAULT_CONF
    if not os.access(path, os.R_OK):
        raise InputError(
            "it cannot be read, and Kerberos needs it.",
            path,
            "name one readable file in existing.kerberos.krb5_conf.",
            _KEY,
        )
    if kerberos.krb5_conf:
        check_owner(Path(path))  # it can name plug-ins
    return path


def require_programs() -> None:
    """InputError if a program that Kerberos needs is not installed."""
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise InputError(
                f"{program} is not installed, and a cluster with Kerberos needs it.",
                "this machine",
                f"install it (Debian: apt install {package}).",
            )


def obtain(kerberos: Kerberos, cache: Path, life_s: int | None = None) -> None:
    """A new ticket by the keytab, which replaces `cache` at once. InputError if there is none."""
    if not os.access(kerberos.keytab, os.R_OK):
        missing = not Path(kerberos.keytab).exists()
        raise InputError(
            "the keytab does not exist." if missing else "the keytab cannot be read.",
            kerberos.keytab,
            "correct existing.kerberos.keytab, or let this user read it.",
            _KEY,
        )
    fresh = cache.with_name(f"{cache.name}.{os.getpid()}")
    life = () if life_s is None else ("-l", f"{life_s}s")
    try:
        words = ("kinit", "-k", "-t", kerberos.keytab, *life, "-c", str(fresh), kerberos.principal)
        _run(kerberos, kerberos.principal, words)
        fresh.replace(cache)
    finally:
        fresh.unlink(missing_ok=True)


def held(kerberos: Kerberos) -> Ticket:
    """The user's own ticket. InputError if there is none, or if it is expired."""
    cache = kerberos.ticket_cache or os.environ.get("KRB5CCNAME", "")
    done = _output(kerberos, ("klist", *(("-c", cache) if cache else ())))
    where = f"ticket cache {cache}" if cache else "the default ticket cache"
    named = re.search(r"^Ticket cache: (\w+):(.*)$", done.stdout, re.M)
    ticket = _TICKET.search(done.stdout)
    if named is None or ticket is None:
        raise InputError("there is no Kerberos ticket.", where,
                         "run kinit, or name a keytab in existing.kerberos.", _KEY)  # fmt: skip
    if named[1] != "FILE":
        raise InputError(
            f"it is of the type {named[1]}, and Java reads only files.", where,
            "run `kinit -c /path/to/file`, and name this file in existing.kerberos.ticket_cache.", _KEY,
        )  # fmt: skip
    principal = re.search(r"^Default principal: (.*)$", done.stdout, re.M)
    end_s = _epoch_s(ticket[2])
    found = Ticket(named[2], principal[1] if principal else "?", end_s,
                   _epoch_s(ticket[3]) if ticket[3] else end_s)  # fmt: skip
    if end_s <= time.time():
        raise InputError(
            f"the ticket of {found.principal} expired at {_text(end_s)}.", where,
            "run kinit, or name a keytab in existing.kerberos.", _KEY,
        )  # fmt: skip
    return found


def require_lasting(ticket: Ticket, for_s: float) -> None:
    """InputError if the ticket cannot be renewed until the study is over."""
    if ticket.renewable_s < time.time() + for_s:
        raise InputError(
            f"the ticket of {ticket.principal} ends at {_text(ticket.renewable_s)}, and the study takes "
            f"until about {_text(time.time() + for_s)}.",
            f"ticket cache {ticket.cache}",
            "run kinit with a longer life (-l, -r), or name a keytab in existing.kerberos.",
            _KEY,
        )


def renew(kerberos: Kerberos, ticket: Ticket) -> None:
    """A new end of the user's ticket, in its place. InputError if it is refused."""
    _run(kerberos, ticket.principal, ("kinit", "-R", "-c", ticket.cache))


def require_service(kerberos: Kerberos, access: Access, principal: str) -> None:
    """InputError unless the KDC gives a ticket for the service `principal`."""
    who = kerberos.principal or held(kerberos).principal
    _run(kerberos, who, ("kvno", "-q", "-c", access.ticket_cache, principal))


def _run(kerberos: Kerberos, principal: str, words: Sequence[str]) -> None:
    done = _output(kerberos, words)
    if done.returncode == 0:
        return
    said = " ".join(done.stderr.split())
    values = {"keytab": kerberos.keytab, "krb5_conf": krb5_conf_of(kerberos)}
    for fault, what, remedy in _FAULTS:
        if fault in said:
            what, remedy = what.format(**values), remedy.format(**values)
            raise InputError(f"{what} ({said})", f"Kerberos principal {principal}", remedy, _KEY)
    raise InputError(
        f"{words[0]} gets no ticket: {said or f'exit code {done.returncode}'}.",
        f"Kerberos principal {principal}",
        "show this to those who run the KDC.",
        _KEY,
    )


def _output(kerberos: Kerberos, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    access = Access("any", krb5_conf_of(kerberos))
    given = {"LC_ALL": "C", "TZ": "UTC", "KRB5_CONFIG": access.env["KRB5_CONFIG"]}
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, **given},
        check=False,
    )


def _epoch_s(text: str) -> float:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC).timestamp()


def _text(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
