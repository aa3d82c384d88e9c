"""Limits of this process, which its children inherit: `ulimit` of the user's shell."""

from __future__ import annotations

import resource
from pathlib import Path

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.scratch import allows_programs

_GIB = 2**30
_LEAST = (
    (resource.RLIMIT_NOFILE, "-n", 1, "open files", 2048),
    (resource.RLIMIT_NPROC, "-u", 1, "processes and threads", 2048),
    (resource.RLIMIT_AS, "-v", 1024, "bytes of address space", 16 * _GIB),
    (resource.RLIMIT_DATA, "-d", 1024, "bytes of data", 16 * _GIB),
    (resource.RLIMIT_FSIZE, "-f", 1024, "bytes of a file", 16 * _GIB),
    (resource.RLIMIT_CPU, "-t", 1, "seconds of processor time", 7 * 86_400),
)
"""Limit, its option of `ulimit`, its unit there, what it counts, and the least that a study's JVMs need."""


JVM_TEMPORARY = Path("/tmp")


def check_temporary() -> None:
    """InputError if the daemons of this machine could not load the native libraries that they unpack."""
    if not allows_programs(JVM_TEMPORARY):
        raise InputError(
            "the folder is mounted noexec, and Java loads native libraries from there.",
            str(JVM_TEMPORARY),
            f"as root: mount -o remount,exec {JVM_TEMPORARY}, or use the provider physical or libvirt.",
        )


def check_limits() -> None:
    """InputError for the first limit that is too low for Java processes with a heap of gigabytes."""
    for limit, option, unit, what, least in _LEAST:
        allowed = resource.getrlimit(limit)[0]
        if allowed != resource.RLIM_INFINITY and allowed < least:
            raise InputError(
                f"a process may use {allowed} {what}; a study needs {least}.",
                f"ulimit {option}",
                f"raise the limit of this shell: ulimit {option} {least // unit}. If that is refused, raise "
                "the hard limit in /etc/security/limits.conf and log in again.",
            )
