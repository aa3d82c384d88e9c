"""`Virsh`: one libvirt, local or over SSH, through its own command. Every call is an argv list."""

from __future__ import annotations

import subprocess
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.libvirt.connection import connected
from density_study.cluster.providers.ssh.bounded import TooMuchError, run_bounded
from density_study.cluster.providers.ssh.options import find_program

TIMEOUT_S = 120
UPLOAD_TIMEOUT_S = 1800
MAX_OUTPUT_BYTES = 32 * 2**20
"""The output of a guest's console is the longest."""
_ABSENT = ("failed to get domain", "failed to get network", "failed to get pool", "failed to get vol",
           "not found", "no domain with matching", "no storage vol")  # fmt: skip


class Virsh:
    """Commands of one connection. StudyError with libvirt's message if one fails."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._connect = f"--connect={connected(uri)}"
        self._program = find_program("virsh", "libvirt-clients", "provider libvirt")

    def run(self, *args: str, stdin: str | None = None, timeout_s: float = TIMEOUT_S) -> str:
        done = self._done(args, stdin, timeout_s)
        if done.returncode != 0:
            raise StudyError(
                f"virsh {args[0]} failed: {_message(done)}",
                f"libvirt {self.uri}",
                "read libvirt's log on that host; `study reap` removes what was made so far.",
            )
        return done.stdout

    def found(self, *args: str) -> str | None:
        """The output; None if the resource does not exist."""
        done = self._done(args)
        if done.returncode == 0:
            return done.stdout
        message = _message(done)
        if any(absent in message.lower() for absent in _ABSENT):
            return None
        raise StudyError(
            f"virsh {args[0]} failed: {message}",
            f"libvirt {self.uri}",
            "check that libvirtd is running there and that you have access to it.",
        )

    def stop(self, domain: str) -> None:
        """Power off a domain that runs."""
        if self.run("domstate", domain).strip() not in ("shut off", "crashed"):
            self.run("destroy", domain)

    def active(self, what: str, name: str) -> bool:
        """Whether a network (`net-list`) or pool (`pool-list`) exists and is active."""
        return name in self.run(what, "--name").split()

    def names(self, what: str) -> list[str]:
        """For domains (`list`), networks (`net-list`) or pools (`pool-list`), inactive ones too."""
        return self.run(what, "--all", "--name").split()

    def volumes(self, pool: str) -> dict[str, str]:
        """Name -> path of the volumes of an active pool."""
        self.run("pool-refresh", pool)
        rows = self.run("vol-list", pool).splitlines()[2:]
        pairs = (row.split(None, 1) for row in rows)
        return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}

    def delete_volume(self, pool: str, volume: str) -> None:
        """A name that libvirt listed is the host's: after `--` it is not an option."""
        self.run("vol-delete", "--pool", pool, "--", volume)

    def upload(self, pool: str, volume: str, file: Path) -> None:
        options = ("--pool", pool, "--sparse")
        names = (volume, str(file))
        self.run("vol-upload", *options, "--", *names, timeout_s=UPLOAD_TIMEOUT_S)

    def _done(
        self, args: tuple[str, ...], stdin: str | None = None, timeout_s: float = TIMEOUT_S
    ) -> subprocess.CompletedProcess[str]:
        argv = [self._program, self._connect, *args]
        given = stdin or ""  # never our own standard input
        try:
            return run_bounded(argv, timeout_s, given, MAX_OUTPUT_BYTES)
        except subprocess.TimeoutExpired as error:
            raise StudyError(
                f"virsh {args[0]} did not answer within {timeout_s:.0f} s.",
                f"libvirt {self.uri}",
                "check that the host and its libvirtd are running.",
            ) from error
        except TooMuchError as error:
            raise StudyError(
                f"virsh {args[0]} printed more than {MAX_OUTPUT_BYTES // 2**20} MiB.",
                f"libvirt {self.uri}",
                "look at that host: no study makes that much output.",
            ) from error


def _message(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return " ".join(lines[-3:]) or f"exit code {done.returncode}"
