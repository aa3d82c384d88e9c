"""Logging in to an existing cluster: for one look, for a build, and for the removal of what it made.

Tickets by keytab lie only in folders of this user's runtime folder, never in a run's. The folder of a
build is tagged and journalled. That of a look is removed with it; its ticket ends after LOOK_S in any case.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from density_study.cluster.machine import directories
from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import ExistingCluster, Kerberos
from density_study.cluster.providers.existing import tickets
from density_study.cluster.providers.existing.configuration import (
    ClientConfiguration,
    read_configuration,
)
from density_study.cluster.providers.existing.site_file import properties_of
from density_study.cluster.stack import find_java
from density_study.cluster.state import atomic
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.scratch import OWN, scratch

LOOK_S = 600
RENEW_BEFORE_S = 3600.0
"""A user's ticket is renewed before a client starts if it ends within this time."""
_CACHE, _SAVED, _AUTHORITIES = "krb5cc", "access.json", "ca.pem"


@dataclass(frozen=True)
class _Login:
    """Saved beside a build's configuration: paths and names, no secret."""

    kerberos: Kerberos | None = None
    access: Access = OPEN


_ADAPTER: TypeAdapter[_Login] = TypeAdapter(_Login)


def configuration_of(existing: ExistingCluster) -> ClientConfiguration:
    """The client's configuration. InputError if it cannot be read, or if the study does not fit to it."""
    found = read_configuration(Path(existing.configuration)).with_variables(existing.variables)
    key = ("existing", "kerberos")
    if found.is_secure and existing.kerberos is None:
        raise InputError(
            "the cluster wants Kerberos (hadoop.security.authentication, hbase.security.authentication).",
            existing.configuration,
            "write existing.kerberos: {principal: ..., keytab: ...}, or {} for the ticket of kinit.",
            ("existing",),
        )
    if existing.kerberos is not None and not found.is_secure:
        raise InputError(
            "the study has existing.kerberos, but hadoop.security.authentication is not kerberos.",
            existing.configuration,
            "remove existing.kerberos, or name the configuration of the secure cluster.",
            key,
        )
    if found.has_tls and found.get("dfs.client.https.need-auth").lower() == "true":
        raise InputError(
            "dfs.client.https.need-auth is true: web servers ask for certificates of clients, which "
            "cannot be given yet.",
            existing.configuration,
            "let the cluster's web servers take SPNEGO.",
        )
    return found


@contextmanager
def looking(existing: ExistingCluster) -> Iterator[tuple[ClientConfiguration, Access]]:
    """The configuration, and access for as long as the context lasts. InputError as in `log_in`."""
    configuration = configuration_of(existing)
    with scratch(runtime_dir(), OWN) as folder:
        yield configuration, _access(existing, configuration, folder, folder, LOOK_S)


@contextmanager
def looking_again(conf: Path) -> Iterator[Access]:
    """Access to what the build with this folder of configuration made. StudyError if there is none."""
    login = _saved(conf)
    with scratch(runtime_dir(), OWN) as folder:
        yield _renewed(login, folder / _CACHE, LOOK_S)


def log_in(existing: ExistingCluster, conf: Path, site: Site, journal: Journal) -> Access:
    """Access for a build's clients, saved in `conf`. InputError if there is no ticket, or it is of no use."""
    configuration, folder = configuration_of(existing), conf
    if existing.kerberos and existing.kerberos.keytab:
        folder = runtime_dir() / "tickets" / site.tag / "client"
        directories.make_folder(folder, site, journal)
        folder.chmod(0o700)
    access = _access(existing, configuration, conf, folder)
    login = _Login(existing.kerberos, access)
    atomic.write_text(conf / _SAVED, _ADAPTER.dump_json(login).decode() + "\n", mode=0o600)
    return access


def logged_in(conf: Path) -> Access:
    """What `log_in` saved; of builds that did not log in, open access."""
    return _saved(conf).access


def renew(conf: Path) -> None:
    """Make the ticket of a build's clients last. StudyError if the KDC refuses."""
    login = _saved(conf)
    cache = Path(login.access.ticket_cache)
    if login.kerberos is not None and cache.parent.exists():  # it is gone after tear-down
        _renewed(login, cache)


def require_ticket_for(existing: ExistingCluster, seconds: float) -> None:
    """InputError if the user's ticket cannot last as long; one by keytab always does."""
    if existing.kerberos is not None and not existing.kerberos.keytab:
        tickets.require_lasting(tickets.held(existing.kerberos), seconds)


def _access(
    existing: ExistingCluster,
    configuration: ClientConfiguration,
    conf: Path,
    folder: Path,
    life_s: int | None = None,
) -> Access:
    ca = ca_file(configuration, existing.ca_file, conf)
    if existing.kerberos is None:
        return Access(ca_file=ca)
    tickets.require_programs()
    krb5_conf = tickets.krb5_conf_of(existing.kerberos)
    login = _Login(existing.kerberos, Access("", krb5_conf, ca))
    access = _renewed(login, folder / _CACHE, life_s)
    tickets.require_service(existing.kerberos, access, configuration.namenode_principal())
    return access


def _renewed(login: _Login, cache: Path, life_s: int | None = None) -> Access:
    """By keytab a new ticket in `cache`; else the user's own, renewed if it ends soon."""
    kerberos = login.kerberos
    if kerberos is None:
        return login.access
    if kerberos.keytab:
        tickets.obtain(kerberos, cache, life_s)
        return replace(login.access, ticket_cache=str(cache))
    ticket = tickets.held(kerberos)
    if ticket.end_s < min(ticket.renewable_s, time.time() + RENEW_BEFORE_S):
        tickets.renew(kerberos, ticket)
    return replace(login.access, ticket_cache=ticket.cache)


def _saved(conf: Path) -> _Login:
    path = conf / _SAVED
    return _ADAPTER.validate_json(path.read_bytes()) if path.exists() else _Login()


def ca_file(configuration: ClientConfiguration, given: str, folder: Path) -> str:
    """Path of the PEM file with the authorities that sign the cluster's certificates: the `given`
    one, or one made in `folder` of the trust store that ssl-client.xml names. Empty if there is neither: then
    those of this machine count. InputError if it cannot be read."""
    if given:
        if not os.access(given, os.R_OK):
            raise InputError("the file cannot be read.", given, "correct existing.ca_file.")
        return given
    site = configuration.folder / configuration.get("hadoop.ssl.client.conf", "ssl-client.xml")
    if not configuration.has_tls or not site.is_file():
        return ""
    client = ClientConfiguration(configuration.folder, dict(properties_of(site)))
    store = client.get("ssl.client.truststore.location")
    if not store:
        return ""
    # keytool takes the password from its environment: nobody else sees it there
    password = client.get("ssl.client.truststore.password")
    how = ("-storepass:env", "STORE_PASSWORD") if password else ()
    done = subprocess.run(
        [find_java().command.with_name("keytool"), "-list", "-rfc", "-keystore", store, *how],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "STORE_PASSWORD": password},
        check=False,
    )
    if done.returncode != 0 or "BEGIN CERTIFICATE" not in done.stdout:
        remedy = "name a PEM file with the authorities in existing.ca_file."
        raise InputError(f"the trust store {store} cannot be read.", str(site), remedy)
    path = folder / _AUTHORITIES
    path.write_text(done.stdout)
    return str(path)
