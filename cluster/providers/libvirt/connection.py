"""How virsh reaches a libvirt: this machine's own, or one over SSH as strictly as all SSH of this program.

libvirt runs a program of ours as its `ssh`. By default it would run the user's, with his own configuration
and known_hosts, and ask or learn; its parameter `known_hosts` is for other transports (libssh).
"""

from __future__ import annotations

import atexit
import re
import shlex
from contextlib import ExitStack
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.ssh.options import find_program, identity_file, strict_options
from density_study.cluster.state import atomic
from density_study.cluster.state.runtime import VARIABLE, runtime_dir
from density_study.cluster.state.scratch import OWN, allows_programs, scratch
from density_study.cluster.state.settings import user_home

_PLACE = re.compile(r"([A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?")
_SOCKET = re.compile(r"socket=/[A-Za-z0-9._/-]+")


def connected(uri: str) -> str:
    """The URI for virsh. InputError for any but `qemu:///system` and `qemu+ssh://user@address/system`.

    Only these parameters count: the local daemon's `socket` counts, and `known_hosts`: the only file of
    trusted host keys, by default ~/.ssh/known_hosts. No key is learnt.
    """
    parts = urlsplit(uri)
    if (parts.scheme, parts.netloc) == ("qemu", ""):
        query = f"?{parts.query}" if _SOCKET.fullmatch(parts.query) else ""
        return f"qemu://{_path(parts.path, uri)}{query}"
    if parts.scheme != "qemu+ssh" or not _PLACE.fullmatch(parts.netloc):
        raise _refused(uri)
    named = parse_qs(parts.query).get("known_hosts")
    known_hosts = named[0] if named else str(user_home() / ".ssh" / "known_hosts")
    program = _strict_ssh(known_hosts)
    return f"qemu+ssh://{parts.netloc}{_path(parts.path, uri)}?command={quote(str(program))}"


def _path(path: str, uri: str) -> str:
    if path not in ("/system", "/session"):
        raise _refused(uri)
    return path


def _refused(uri: str) -> InputError:
    return InputError(
        "it is not the address of a libvirt that this program uses.",
        f"libvirt {uri}",
        "write qemu:///system, or qemu+ssh://user@address/system.",
    )


def _strict_ssh(known_hosts: str) -> Path:
    """A program that runs ssh with our options, and libvirt's arguments after them: of two values of an
    option, ssh takes the first. InputError where no program can be executed."""
    argv = (find_program("ssh"), *strict_options(known_hosts, identity_file()))
    script = f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n'
    path = _own_folder(runtime_dir()) / f"ssh-{sha256(script.encode()).hexdigest()[:16]}"
    if not path.exists():
        atomic.write_text(path, script, mode=0o700)
    return path


@cache
def _own_folder(above: Path) -> Path:
    """A folder of this process: the path of the key, and so the program, may differ in each."""
    if not allows_programs(above):
        raise InputError(
            "its disk is mounted noexec, and virsh starts a program of ours from it.",
            str(above),
            f"set {VARIABLE} to a folder of your own on another disk, for every command.",
        )
    held = ExitStack()
    atexit.register(held.close)
    return held.enter_context(scratch(above, OWN))
