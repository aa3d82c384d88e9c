"""dool, the monitor of every host, and the parser for CSV files of dool, dstat and pcp-dstat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from density_study.cluster.model.transport import Command
from density_study.workloads.base.local_time import zone_of
from density_study.workloads.base.parsing import Ledger, Line, Parsed, RejectedError, instant
from density_study.workloads.monitors.dool_cells import (
    HostSample,
    bytes_and_operations,
    cells_of,
    cpu_section,
    cpu_shares,
    has_no_values,
    without_missed,
)
from density_study.workloads.monitors.dool_header import (
    DAY_S,
    Banner,
    Key,
    Start,
    Units,
    columns,
    epoch_of,
    read_banner,
    read_start,
    require_sections_of,
    units,
)

NO_BANNER = "no dstat, dool or pcp-dstat file: no line '\"dool ... CSV output\"'"
MIN_STEP_S = 0.001
_MEMORY = "memory usage"
_TIMES = (("system", "time"), ("system", "date/time"))  # the second until dstat 0.7.0
_OLD_DSTAT_EXTRA = 3  # dstat 0.7.2 writes 7 values of memory under 4 names, in no fixed order


def dool_command(
    host: str, output: str, period_s: float, tag: str, python: tuple[str, ...]
) -> Command:
    """dool from the project's own environment writes one flushed line per period until TERM.

    Without `--bytes`, disk and network are in bits. COLUMNS prevents dool from cutting off columns.
    ValueError if the period is not a whole number of seconds.
    """
    if period_s != int(period_s) or period_s < 1:
        raise ValueError(f"dool samples at whole seconds, not every {period_s} s")
    stats = ("-T", "--time", "--cpu", "--disk", "--io", "--net", "--mem")
    quiet = ("--bytes", "--noupdate", "--nocolor", "--noheaders")
    return Command(
        name=f"monitor-dool-{host}",
        argv=(*python, "-m", "dool", *stats, *quiet, "--output", output, str(int(period_s))),
        env={"STUDY_TAG": tag, "STUDY_NODE": "monitor", "COLUMNS": "500", "TZ": "UTC"},
        of_machine=True,
    )


def parse_dool(data: bytes | str, file: str, time_zone: str = "") -> Parsed[HostSample]:
    """Rows in the file's order, for every start of the tool that wrote to the file.

    The result may be empty: Debian's dstat 0.7.4 crashes after the header. time_zone: of local times, if
    the file names none or an ambiguous one. ParseError: no banner of this family of tools.
    """
    ledger = Ledger(data, file)
    if not any(read_banner(line.text) for line in ledger.lines):
        raise ledger.refuse(NO_BANNER)
    return ledger.close(ledger.read(DoolReader(time_zone).read))


@dataclass(frozen=True)
class Layout:
    """Format of the rows below the current headers, for readers of many rows at once.

    keys: distinct keys of the cells. last_s: time of the last accepted row, None if unknown.
    """

    keys: tuple[Key, ...]
    units: Units
    start: Start | None
    last_s: float | None


def _without_memory(keys: Sequence[Key], cells: list[str]) -> list[str]:
    """A row of dstat 0.7.2 with its memory unknown. RejectedError unless the CPU shares below can prove that
    the other cells are in their places."""
    places = [place for place, (section, _) in enumerate(keys) if section == _MEMORY]
    first, last = (places[0], places[-1]) if places else (0, 0)
    in_one_piece = len(places) == 4 == last - first + 1
    if not in_one_piece or cpu_section(keys) is None:
        raise RejectedError(f"{len(cells)} cells under {len(keys)} columns")
    after = cells[last + 1 + _OLD_DSTAT_EXTRA :]
    return [*cells[:first], *[""] * len(places), *after]


class DoolReader:
    """State of the parser: the headers above the current line, and the last accepted row below them."""

    def __init__(self, time_zone: str = "") -> None:
        self._zone = zone_of(time_zone) if time_zone else None
        self._banner: Banner | None = None
        self._begin()

    def _begin(self) -> None:
        """Reset the state for a new start of the tool."""
        self._start: Start | None = None
        self._sections: list[str] | None = None
        self._columns: tuple[Key, ...] | None = None
        self._last_s: float | None = None
        self._sampled = False

    def layout(self) -> Layout | None:
        """None if rows are not plain lists of values: without a header, before the first row, or for
        pcp-dstat."""
        keys = self._columns
        if keys is None or not self._sampled or len(set(keys)) != len(keys):
            return None
        if self._banner is None or self._banner.tool == "pcp-dstat":
            return None
        try:
            factors = units(self._banner, self._start)
        except RejectedError:
            return None
        return Layout(keys, factors, self._start, self._last_s)

    def read(self, line: Line) -> HostSample | None:
        """A row, or None for a known line without data."""
        text = line.text
        if not text.strip():
            return None
        line.require_end()
        if text.startswith('"'):
            self._header(text)
            return None
        return self._row(line)

    def _header(self, text: str) -> None:
        if banner := read_banner(text):
            self._begin()
            self._banner = banner
        elif text.startswith('"Author:"'):
            pass
        elif text.startswith('"Host:"'):
            self._begin()
        elif text.startswith('"Cmdline:"'):
            self._start = read_start(text, self._zone)
            if self._start is None:
                raise RejectedError("command line not understood")
        else:
            self._sections_or_columns(cells_of(text))

    def _sections_or_columns(self, cells: list[str]) -> None:
        if self._sections is None:
            self._sections, self._columns = cells, None
            return
        sections, self._sections = self._sections, None
        self._last_s, self._sampled = None, False
        require_sections_of(self._banner, sections)
        self._columns = columns(sections, cells)

    def _row(self, line: Line) -> HostSample | None:
        if self._columns is None:
            raise RejectedError("no header above this row")
        cells = without_missed(cells_of(line.text))
        if not self._sampled and has_no_values(cells):
            self._sampled = True  # pcp-dstat's first row: rates need a second reading
            return None
        row = self._sample(line, self._fitted(cells))
        self._last_s, self._sampled = row.epoch_s, True
        return row

    def _fitted(self, cells: list[str]) -> dict[Key, str]:
        """The row's cells by (section, column). RejectedError unless they certainly match the header.

        On a narrow terminal dstat and dool append a comma, and never leave a cell empty. pcp-dstat appends
        no comma, and leaves cells empty.
        """
        keys = self._columns or ()
        if self._banner and self._banner.tool == "pcp-dstat":
            if cells[-1] == "" and self._sampled:
                raise RejectedError("last cell is empty: values may be shifted")
        else:
            if len(cells) == len(keys) + 1 and cells[-1] == "":
                cells = cells[:-1]
            if "" in cells:
                raise RejectedError("empty cell: values may be shifted")
        if len(cells) == len(keys) + _OLD_DSTAT_EXTRA:
            cells = _without_memory(keys, cells)
        if len(cells) != len(keys):
            raise RejectedError(f"{len(cells)} cells under {len(keys)} columns")
        return dict(zip(keys, cells, strict=True))

    def _sample(self, line: Line, cells: Mapping[Key, str]) -> HostSample:
        if len(cells) != len(self._columns or ()):
            raise RejectedError("two columns have the same name")
        epoch_s, time_text = self._time(cells)
        return HostSample(
            line=line.number,
            epoch_s=epoch_s,
            time_text=time_text,
            since_boot=not self._sampled,
            **cpu_shares(cells),
            **bytes_and_operations(cells, units(self._banner, self._start)),
        )

    def _time(self, cells: Mapping[Key, str]) -> tuple[float | None, str | None]:
        text = next((cells[key].strip() for key in _TIMES if key in cells), "") or None
        by_text = epoch_of(text, self._start) if text else None
        printed = cells.get(("epoch", "epoch"))
        if printed is None:
            self._require_progress(by_text, least_s=0.0)
            return by_text, text
        epoch_s = instant(printed)
        if by_text is not None and not -0.001 <= epoch_s - by_text < 1.001:
            raise RejectedError(f"epoch {printed} and time {text} differ")
        self._require_progress(epoch_s, least_s=MIN_STEP_S)
        return epoch_s, text

    def _require_progress(self, epoch_s: float | None, least_s: float) -> None:
        begun_s = self._start.epoch_s if self._start else None
        last_s = self._last_s
        since_s = begun_s - 1.001 if last_s is None and begun_s is not None else last_s
        if epoch_s is None or since_s is None:
            return
        if epoch_s < since_s + (least_s if last_s is not None else 0.0):
            raise RejectedError("time goes back")
        if epoch_s > since_s + DAY_S:
            raise RejectedError("time jumps by more than a day")
