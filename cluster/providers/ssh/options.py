"""Options of every `ssh` process: strict host keys, no prompts, none of the user's own configuration."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from cluster.model.errors import InputError
from cluster.providers.ssh.target import Target

IDENTITY = "DENSITY_STUDY_SSH_IDENTITY"
"""Names the file of the private key; without it the keys of the user's SSH agent are offered."""
CONNECT_TIMEOUT_S = 10
ALIVE_EVERY_S, ALIVE_MISSED = 5, 3


def ssh_program() -> str:
    """InputError if OpenSSH's client is not installed."""
    found = shutil.which("ssh")
    if found is None:
        raise InputError(
            "`ssh` is not on PATH.",
            "controller",
            "install it (Debian: apt install openssh-client).",
        )
    return found


def ssh_options(target: Target, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """As `ssh` takes them. InputError if the identity is missing or open to other users."""
    pairs = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": target.known_hosts,
        "GlobalKnownHostsFile": "/dev/null",
        "UpdateHostKeys": "no",
        "HashKnownHosts": "no",
        "PreferredAuthentications": "publickey",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "PermitLocalCommand": "no",
        "ConnectTimeout": str(CONNECT_TIMEOUT_S * target.timeout_scale),
        "ServerAliveInterval": str(ALIVE_EVERY_S),
        "ServerAliveCountMax": str(ALIVE_MISSED * target.timeout_scale),
        "LogLevel": "ERROR",
        "Port": str(target.port),
        "User": target.user,
    }
    options = [part for key, value in pairs.items() for part in ("-o", f"{key}={value}")]
    named = {IDENTITY: target.identity} if target.identity else environ
    identity = identity_file(named)
    if identity is not None:
        options += ["-o", "IdentitiesOnly=yes", "-i", str(identity)]
    return ("-F", "/dev/null", *options)


def identity_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The private key file named in the environment; None means the SSH agent. Only its mode is checked."""
    named = environ.get(IDENTITY)
    if not named:
        return None
    path = Path(named).expanduser()
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(
            f"the private key cannot be read: {error.strerror}.",
            IDENTITY,
            "name an existing file, or unset the variable to use the SSH agent's keys.",
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        raise InputError(
            f"other users can read the private key (mode {stat.S_IMODE(mode):04o}).",
            IDENTITY,
            "run chmod 600 on the file.",
        )
    return path.absolute()
