#!/usr/bin/python3 -IS
"""quiet-host write FILE TEXT [FILE TEXT ...]: noisy settings of the kernel, for the time of a trial."""

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
    """Whether they are `write FILE TEXT [FILE TEXT ...]` with one of these files."""
    files, texts = words[1::2], words[2::2]
    return (
        [*words[:1]] == ["write"]
        and 0 < len(files) == len(texts)
        and all(any(re.fullmatch(form, file) for form in FILES) for file in files)
        and all(re.fullmatch(TEXT, text) for text in texts)
    )


def main() -> None:
    words = sys.argv[1:]
    if not may_write(words):
        sys.exit(
            "usage: quiet-host write FILE TEXT ..., of the files that the head of this program lists"
        )
    for name, text in zip(words[1::2], words[2::2], strict=True):
        try:
            file = os.open(name, os.O_WRONLY | os.O_NOFOLLOW)
            os.write(file, text.encode())
            os.close(file)
        except OSError as error:
            sys.exit(f"{name}: {error.strerror}")


if __name__ == "__main__":
    main()
