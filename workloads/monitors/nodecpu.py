"""nodecpu, the project's own monitor of the CPU time of each node's processes, and the parser for its CSV.

Nodes that share a kernel have the same dool values (method 19): this monitor separates their CPU time.
Format 1: `# nodecpu format 1, host=<name>, ticks_per_s=<n>, cores=<n>`, a header line, then one row per node
and round with cumulative ticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from density_study.cluster.model.transport import Command
from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, instant, whole

FORMAT = 1
HEADER = "epoch_s,node,user_ticks,system_ticks,processes"
TITLE = re.compile(
    r"# nodecpu format ([0-9]+), host=([^,]+), ticks_per_s=([0-9]{1,6}), cores=([0-9]{1,6})"
)
MAX_PROCESSES = 2**22
NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
LATE_S = 10.0  # maximum delay between using and counting ticks (first round of a new node)


def title(host: str, ticks_per_s: int, cores: int) -> str:
    """The file's first line."""
    return f"# nodecpu format {FORMAT}, host={host}, ticks_per_s={ticks_per_s}, cores={cores}"


@dataclass(frozen=True)
class NodeCpuSample:
    """One node in one round. Ticks are cumulative clock ticks of the node's processes, live and ended, and
    never decrease. processes: number of live processes."""

    line: int
    host: str
    epoch_s: float
    node: str
    user_ticks: int
    system_ticks: int
    processes: int
    ticks_per_s: int
    cores: int


def nodecpu_command(
    host: str, output: str, period_s: float, tag: str, python: tuple[str, ...]
) -> Command:
    """Runs our sampler."""
    return Command(
        name=f"monitor-nodecpu-{host}",
        argv=(
            *(*python, "-m", "density_study.workloads.monitors.nodecpu_sampler"),
            *("--host", host, "--period", str(period_s), "--output", output, "--tag", tag),
        ),
        env={"STUDY_TAG": tag, "STUDY_NODE": "monitor"},
    )


def parse_nodecpu(data: bytes | str, file: str) -> Parsed[NodeCpuSample]:
    """Rows in the file's order. Quarantines rows if time or ticks go back, or if they exceed the host's CPU.

    ParseError if the file has no title of format 1.
    """
    ledger = Ledger(data, file)
    if reason := refusal(line.text for line in ledger.lines):
        raise ledger.refuse(reason)
    return ledger.close(ledger.read(NodeCpuReader().read))


def refusal(texts: Iterable[str]) -> str | None:
    """Why a file with these lines is not a nodecpu file; None if it is one."""
    titles = [match for text in texts if (match := TITLE.fullmatch(text))]
    if not titles:
        return "no nodecpu file: no line '# nodecpu format 1, host=..., ...'"
    if unknown := [match.group(1) for match in titles if match.group(1) != str(FORMAT)]:
        return f"nodecpu format {unknown[0]}; this version reads format {FORMAT}"
    return None


class NodeCpuReader:
    """State of the parser: the title above the current line, and each node's last accepted row below it."""

    def __init__(self) -> None:
        self.about: re.Match[str] | None = None
        self.last: dict[str, NodeCpuSample] = {}

    def read(self, line: Line) -> NodeCpuSample | None:
        """A row, or None for a known line without data."""
        if line.text.startswith("#"):
            self.about, self.last = TITLE.fullmatch(line.text), {}
            if self.about:
                return None
        if not line.text.strip() or line.text == HEADER:
            return None
        row = _row(line, self.about)
        _require_plausible(self.last.get(row.node), row)
        self.last[row.node] = row
        return row


def _row(line: Line, about: re.Match[str] | None) -> NodeCpuSample:
    line.require_end()
    if about is None:
        raise RejectedError("no title above this row: ticks per second unknown")
    cells = line.text.split(",")
    if len(cells) != 5:
        raise RejectedError(f"{len(cells)} cells under 5 columns")
    if not NODE.fullmatch(cells[1]):
        raise RejectedError(f"not a node's name: {cells[1][:40]!r}")
    epoch_s = instant(cells[0])
    return NodeCpuSample(
        line=line.number,
        host=about.group(2),
        epoch_s=epoch_s,
        node=cells[1],
        user_ticks=whole(cells[2]),
        system_ticks=whole(cells[3]),
        processes=whole(cells[4], most=MAX_PROCESSES),
        ticks_per_s=int(about.group(3)),
        cores=int(about.group(4)),
    )


def _require_plausible(last: NodeCpuSample | None, row: NodeCpuSample) -> None:
    if last is None:
        return
    user, system = row.user_ticks - last.user_ticks, row.system_ticks - last.system_ticks
    if row.epoch_s <= last.epoch_s:
        raise RejectedError(f"time goes back since line {last.line}")
    if user < 0 or system < 0:
        raise RejectedError(f"ticks go back since line {last.line}")
    most_s = (row.epoch_s - last.epoch_s + LATE_S) * row.cores
    if user + system > most_s * row.ticks_per_s:
        raise RejectedError(f"more CPU since line {last.line} than {row.cores} cores have")
