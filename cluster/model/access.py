"""`Access`: how clients of an existing cluster prove who they are, and whom they trust: paths, no secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

STRICT = Path(__file__).with_name("krb5-strict.conf")
"""Without it, MIT's programs would correct a wrong clock silently, and Java's would fail later."""


@dataclass(frozen=True)
class Access:
    """`ticket_cache`: file with a Kerberos ticket; empty: the cluster asks for none. `ca_file`: PEM file with
    the authorities of its certificates; empty: those of this machine."""

    ticket_cache: str = ""
    krb5_conf: str = ""
    ca_file: str = ""

    @property
    def env(self) -> Mapping[str, str]:
        """Environment variables for Java and MIT's programs."""
        if not self.ticket_cache:
            return {}
        return {"KRB5CCNAME": self.ticket_cache, "KRB5_CONFIG": f"{STRICT}:{self.krb5_conf}"}

    @property
    def jvm_flags(self) -> tuple[str, ...]:
        krb5 = (f"-Djava.security.krb5.conf={self.krb5_conf}",) if self.ticket_cache else ()
        return krb5 + ((f"-Ddensitystudy.ca={self.ca_file}",) if self.ca_file else ())


OPEN = Access()
