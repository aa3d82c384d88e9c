"""Telemetry devices: what a study may watch beyond the default monitors (`monitor.also`).

`devices.toml` declares the columns that each device samples and the metrics made of them. A device's file
is a CSV, format 1: `# device format 1, host=<name>, device=<name>`, a header line, then a row per source (a
disk, a daemon, or `host`) and round. An empty cell: the source does not have this column.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from density_study.cluster.model.access import OPEN, Access
from density_study.cluster.model.transport import Command
from density_study.workloads.base.parsing import (
    Ledger,
    Line,
    Parsed,
    RejectedError,
    decimal,
    instant,
)

FORMAT = 1
SAMPLER = "density_study.workloads.monitors.device_sampler"
TITLE = re.compile(r"# device format ([0-9]+), host=([^,]+), device=([a-z]+)")
_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
HOST = "host"
"""The source of what a whole machine has once."""


@dataclass(frozen=True)
class DeviceMetric:
    """A number per source and second: see devices.toml. Exactly one of rate, ratio and gauge is set; `when`
    only with gauge."""

    name: str
    label: str
    chart: str
    unit: str
    rate: str = ""
    ratio: tuple[str, ...] = ()
    gauge: str = ""
    when: str = ""
    scale: float = 1.0


@dataclass(frozen=True)
class DeviceEvent:
    """Something that happened each time the counter `count` increased; `longest_ms`: how long the longest of
    those took, `mean_ms`: their mean."""

    kind: str
    count: str
    longest_ms: str
    mean_ms: str


@dataclass(frozen=True)
class Device:
    """`columns`: cells of its rows, after time and source."""

    name: str
    title: str
    columns: tuple[str, ...]
    metrics: tuple[DeviceMetric, ...]
    events: tuple[DeviceEvent, ...] = ()


@dataclass(frozen=True)
class DeviceSample:
    """One source in one round. `names` and `values`: its cells that are not empty."""

    line: int
    host: str
    device: str
    epoch_s: float
    source: str
    names: tuple[str, ...]
    values: tuple[float, ...]


@cache
def devices() -> Mapping[str, Device]:
    """Every device that samples counters, by name."""
    return {name: _device(name, declared) for name, declared in declarations().items()}


@cache
def declarations() -> Mapping[str, Any]:
    """devices.toml; on a host it lies in a zip."""
    text = pkgutil.get_data(__name__, "devices.toml")
    assert text is not None
    return tomllib.loads(text.decode())


def _device(name: str, declared: Mapping[str, Any]) -> Device:
    metrics = [
        DeviceMetric(**{**one, "ratio": tuple(one.get("ratio", ()))}) for one in declared["metrics"]
    ]
    events = tuple(DeviceEvent(**one) for one in declared.get("events", ()))
    return Device(name, declared["title"], tuple(declared["columns"]), tuple(metrics), events)


def device_command(
    host: str,
    output: str,
    period_s: float,
    tag: str,
    python: tuple[str, ...],
    *,
    device: str,
    module: str = SAMPLER,
    daemons: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    access: Access = OPEN,
) -> Command:
    """Runs the program `module`, which samples one device. daemons: those of each machine, with their HTTP
    address. access: to them."""
    asked = [f"{name}={address}" for name, address in sorted(daemons.get(host, {}).items())]
    return Command(
        name=f"monitor-{device}-{host}",
        argv=(
            *(*python, "-m", module),
            *("--device", device, "--host", host, "--period", str(period_s), "--output", output),
            *(part for daemon in asked for part in ("--daemon", daemon)),
            *(("--ca-file", access.ca_file) if asked and access.ca_file else ()),
        ),
        env={"STUDY_TAG": tag, "STUDY_NODE": "monitor", **(access.env if asked else {})},
    )


def title(host: str, device: str) -> str:
    """The file's first line."""
    return f"# device format {FORMAT}, host={host}, device={device}"


def header(columns: tuple[str, ...]) -> str:
    """The file's second line."""
    return ",".join(("epoch_s", "source", *columns))


def parse_device(data: bytes | str, file: str) -> Parsed[DeviceSample]:
    """Rows in the file's order. Quarantines rows that do not fit the header or whose time goes back.

    ParseError if the file has no title of format 1.
    """
    ledger = Ledger(data, file)
    titles = [match for line in ledger.lines if (match := TITLE.fullmatch(line.text))]
    if not titles:
        raise ledger.refuse("no device file: no line '# device format 1, host=..., device=...'")
    if unknown := [match.group(1) for match in titles if match.group(1) != str(FORMAT)]:
        raise ledger.refuse(f"device format {unknown[0]}; this version reads format {FORMAT}")
    return ledger.close(ledger.read(_Reader().read))


class _Reader:
    """State of the parser: the title and the header above the current line, each source's last time."""

    def __init__(self) -> None:
        self._about: re.Match[str] | None = None
        self._columns: tuple[str, ...] | None = None
        self._last_s: dict[str, float] = {}

    def read(self, line: Line) -> DeviceSample | None:
        if line.text.startswith("#"):
            self._about, self._columns, self._last_s = TITLE.fullmatch(line.text), None, {}
            if self._about:
                return None
            raise RejectedError("not a title")
        if not line.text.strip():
            return None
        if line.text.startswith("epoch_s,source,"):
            self._columns = tuple(line.text.split(",")[2:])
            if len(set(self._columns)) != len(self._columns):
                self._columns = None
                raise RejectedError("two columns have the same name")
            return None
        return self._row(line)

    def _row(self, line: Line) -> DeviceSample:
        line.require_end()
        if self._about is None or self._columns is None:
            raise RejectedError("no title and header above this row")
        epoch, source, *cells = (*line.text.split(","), "")[:-1] if "," in line.text else ("", "")
        if len(cells) != len(self._columns):
            raise RejectedError(f"{len(cells)} cells under {len(self._columns)} columns")
        if not _SOURCE.fullmatch(source):
            raise RejectedError(f"not a source: {source[:40]!r}")
        epoch_s = instant(epoch)
        if epoch_s <= self._last_s.get(source, 0.0):
            raise RejectedError(f"time of {source} goes back, or occurs twice")
        known = {n: decimal(cell) for n, cell in zip(self._columns, cells, strict=True) if cell}
        self._last_s[source] = epoch_s
        return DeviceSample(
            line=line.number,
            host=self._about.group(2),
            device=self._about.group(3),
            epoch_s=epoch_s,
            source=source,
            names=tuple(known),
            values=tuple(known.values()),
        )
