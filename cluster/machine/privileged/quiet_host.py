#!/usr/bin/python3 -IS
"""quiet-host write FILE TEXT: a setting of the kernel that makes noise, for the time of a trial."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

FILES = (
    r"/sys/devices/system/cpu/cpu[0-9]{1,5}/cpufreq/scaling_governor",
    r"/sys/kernel/mm/(transparent_hugepage/khugepaged/defrag|ksm/run)",
    r"/proc/sys/kernel/(numa_balancing|timer_migration|nmi_watchdog)",
    r"/proc/sys/vm/compaction_proactiveness",
)
TEXT = r"[a-z0-9_+-]{1,32}"


def may_write(words: Sequence[str]) -> bool:
    """Whether they are `write FILE TEXT` with one of these files."""
    return (
        len(words) == 3
        and words[0] == "write"
        and any(re.fullmatch(file, words[1]) for file in FILES)
        and re.fullmatch(TEXT, words[2]) is not None
    )


def main() -> None:
    words = sys.argv[1:]
    if not may_write(words):
        sys.exit(
            "usage: quiet-host write FILE TEXT, of the files that the head of this program lists"
        )
    try:
        file = os.open(words[1], os.O_WRONLY | os.O_NOFOLLOW)
        os.write(file, words[2].encode())
    except OSError as error:
        sys.exit(f"{words[1]}: {error.strerror}")


if __name__ == "__main__":
    main()
