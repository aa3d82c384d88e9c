"""The end of a file that a monitor writes, however long the file is."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.machine.host_commands import HOST_COMMANDS, TAIL_BYTES
from density_study.workloads.monitors import last_epoch_s


@pytest.mark.parametrize("lines", [0, 1, 3, 100_000])
def test_the_last_sample_is_in_the_tail(lines: int, tmp_path: Path) -> None:
    file = tmp_path / "here.dool.csv"
    if lines:
        file.write_text("".join(f"{second}.500000,1,2,3\n" for second in range(lines)) + "99999")
    tail = HOST_COMMANDS["tail"](str(file))
    assert len(tail) <= TAIL_BYTES
    assert last_epoch_s(tail) == (lines - 0.5 if lines else None)
