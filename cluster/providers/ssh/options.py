"""Options of every `ssh` process: strict host keys, no prompts, none of the user's own configuration.

A study has its own known_hosts, with the entries of its hosts only. Unknown host keys are rejected, never
added.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from density_study.cluster.model.errors import InputError, each_of
from density_study.cluster.model.host import Target
from density_study.cluster.state import atomic
from density_study.cluster.state.plain_file import in_words
from density_study.cluster.state.settings import expanded, setting

IDENTITY = "DENSITY_STUDY_SSH_IDENTITY"
"""Names the file of the private key; without it the keys of the user's SSH agent are offered."""
HOST_FOLDER = "DENSITY_STUDY_HOST_FOLDER"
_PLAIN_PATH = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_SETTINGS = {
    "hostname": "hosts[].address", "port": "ssh.port", "proxyjump": "ssh.jump", "proxycommand": "ssh.jump",
}  # fmt: skip
"""For `ssh -G`, and the keys that say the same."""
_AUTHORITY = "@cert-authority "
_MOST_BYTES = 2**26
CONNECT_TIMEOUT_S = 10
ALIVE_EVERY_S, ALIVE_MISSED = 5, 3


def find_program(name: str, package: str = "openssh-client", where: str = "controller") -> str:
    """The path of a program on this machine. InputError if it is not installed."""
    found = shutil.which(name)
    if found is None:
        raise InputError(
            f"`{name}` is not on PATH.", where, f"install it (Debian: apt install {package})."
        )
    return found


def ssh_options(target: Target, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The options in the form of `ssh`; the address follows after `--`. InputError if the identity is missing
    or open to other users."""
    identity = identity_file({IDENTITY: target.identity} if target.identity else environ)
    own = (
        *strict_options(target.known_hosts, identity, target.timeout_scale),
        *("-o", f"Port={target.port}"),
        *("-o", f"User={target.user}"),
    )
    if (jump := target.via) is None:
        return own
    # not ProxyJump, whose ssh would have none of our options
    words = (find_program("ssh"), *ssh_options(jump, environ), "-W", "[%h]:%p", "--", jump.address)
    command = " ".join(
        word if word == "[%h]:%p" else shlex.quote(word).replace("%", "%%") for word in words
    )
    return (*own, "-o", f"ProxyCommand={command}")


def strict_options(
    known_hosts: str, identity: Path | None, timeout_scale: int = 1
) -> tuple[str, ...]:
    """The options of every connection. `known_hosts` is the only source of trusted host keys; without an
    `identity`, the keys of the SSH agent are offered. InputError for a path that ssh cannot take."""
    pairs = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": _quoted(known_hosts),
        "GlobalKnownHostsFile": "/dev/null",
        "UpdateHostKeys": "no",
        "HashKnownHosts": "no",
        "PreferredAuthentications": "publickey",
        "ForwardAgent": "no",
        "ForwardX11": "no",
        "PermitLocalCommand": "no",
        "ConnectTimeout": str(CONNECT_TIMEOUT_S * timeout_scale),
        "ServerAliveInterval": str(ALIVE_EVERY_S),
        "ServerAliveCountMax": str(ALIVE_MISSED * timeout_scale),
        "LogLevel": "ERROR",
    }
    if identity is not None:
        pairs |= {"IdentitiesOnly": "yes", "IdentityFile": _quoted(str(identity))}
    options = (part for key, value in pairs.items() for part in ("-o", f"{key}={value}"))
    return ("-F", "/dev/null", *options)


def _quoted(path: str) -> str:
    """A path as ssh reads it from an option: spaces separate words, and % begins a token. InputError for the
    characters that not every version of ssh takes."""
    if any(letter in path for letter in '"\\$\n\r\0'):
        raise InputError(
            "ssh takes no path with a quotation mark, a backslash, a dollar sign or a line break.",
            path,
            "use another folder.",
        )
    return f'"{path.replace("%", "%%")}"'


def identity_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The file of the setting `ssh_identity`; None means the SSH agent. Only its mode is checked."""
    named = setting("ssh_identity", environ)
    if not named:
        return None
    path = expanded(named, IDENTITY)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(
            f"the private key cannot be read: {error.strerror}.",
            IDENTITY,
            "name an existing file, or remove the setting to use the SSH agent's keys.",
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        raise InputError(
            f"other users can read the private key (mode {stat.S_IMODE(mode):04o}).",
            IDENTITY,
            "run chmod 600 on the file.",
        )
    return path.absolute()


def host_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The program's folder on hosts, by the setting `host_folder`; empty for the usual one. InputError if it
    is not a plain absolute path."""
    named = setting("host_folder", environ) or ""
    if named and not _PLAIN_PATH.fullmatch(named):
        raise InputError(
            "it is not an absolute path of letters, digits and ._-.",
            HOST_FOLDER,
            "name a folder on the hosts, like /srv/density-study.",
        )
    return named


def write_known_hosts(source: Path, addresses: Sequence[tuple[str, int]], to: Path) -> None:
    """Copy to `to` what `source` holds for each (address, port). InputError names a host it lacks."""
    if not source.is_file():
        raise InputError(
            "the file does not exist.",
            str(source),
            "get the hosts' keys by a way you trust, and add them: "
            f"{'; '.join(f'ssh-keyscan -p {port} {address}' for address, port in addresses)}, their "
            "fingerprints compared with the hosts' own. Or set ssh.known_hosts to the file that has them.",
        )
    if source.stat().st_size > _MOST_BYTES:
        what = f"the file is larger than {in_words(_MOST_BYTES)}."
        raise InputError(what, str(source), "set ssh.known_hosts to a file of these hosts' keys.")
    lines = each_of(addresses, lambda one: _known(source, *one))
    text = "".join(f"{line}\n" for found in lines for line in found)
    atomic.write_text(to, text, mode=0o600)


def _known(source: Path, address: str, port: int) -> list[str]:
    entry = address if port == 22 else f"[{address}]:{port}"
    if found := _entries(source, entry):
        return found
    # an authority counts at every port
    if found := [line for line in _entries(source, address) if line.startswith(_AUTHORITY)]:
        return found
    raise InputError(
        f"it has no host key for {entry}.",
        str(source),
        f"get the key by a way you trust, and add it: ssh-keyscan -p {port} {address}, "
        f"its fingerprint compared with the host's own.{unread_settings(address)}",
    )


def unread_settings(address: str) -> str:
    """What to do about settings for the address in the user's own configuration of ssh, as a sentence after
    others; empty if it has none that matter here."""
    try:
        own, plain = (_settings(*more, address) for more in ((), ("-F", "/dev/null")))
    except (OSError, subprocess.SubprocessError):
        return ""
    keys = [key for key in _SETTINGS if own.get(key) and own.get(key) != plain.get(key)]
    if not keys:
        return ""
    named = ", ".join(f"{key} {own[key]}" for key in keys)
    write = ", ".join(_SETTINGS[key] for key in keys)
    return (
        f" Your configuration of ssh has {named} for it, and a study does not read that file: write it as "
        f"{write} in the study."
    )


def _settings(*words: str) -> dict[str, str]:
    argv = (find_program("ssh"), "-G", *words)
    shown = subprocess.run(
        argv, capture_output=True, text=True, errors="replace", check=True, timeout=10
    ).stdout
    return dict(line.split(" ", 1) for line in shown.splitlines() if " " in line)


def _entries(source: Path, entry: str) -> list[str]:
    """Found by ssh-keygen, which handles hashed names and wildcards."""
    argv = (find_program("ssh-keygen"), "-F", entry, "-f", str(source))
    listed = subprocess.run(
        argv, capture_output=True, text=True, errors="replace", check=False
    ).stdout
    return [line for line in listed.splitlines() if line and not line.startswith("#")]
