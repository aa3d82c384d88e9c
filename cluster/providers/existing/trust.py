"""The authorities that sign an existing cluster's certificates, as a PEM file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.existing.configuration import ClientConfiguration
from density_study.cluster.providers.existing.site_file import properties_of
from density_study.cluster.stack import find_java

_NAME = "ca.pem"
_REMEDY = "name a PEM file with the authorities in existing.ca_file."


def ca_file(configuration: ClientConfiguration, given: str, folder: Path) -> str:
    """Path of the PEM file: the `given` one, or one made in `folder` of the trust store that ssl-client.xml
    names. Empty if there is neither: then those of this machine count. InputError if it cannot be read."""
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
        raise InputError(f"the trust store {store} cannot be read.", str(site), _REMEDY)
    path = folder / _NAME
    path.write_text(done.stdout)
    return str(path)
