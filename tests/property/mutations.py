"""Real samples, each with its parser, and the ways files get damaged."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from density_study.workloads.base.parsing import Parsed
from density_study.workloads.monitors.daemons.flight import parse_jfr
from density_study.workloads.monitors.daemons.gc import parse_gc
from density_study.workloads.monitors.daemons.slow_log import parse_slow_log
from density_study.workloads.monitors.daemons.stalls import parse_stalls
from density_study.workloads.monitors.devices import parse_device
from density_study.workloads.monitors.dool import parse_dool
from density_study.workloads.monitors.nodecpu import parse_nodecpu
from density_study.workloads.monitors.sar import parse_sar
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import parse_stages
from density_study.workloads.sparksql.output import parse_queries
from density_study.workloads.terasort.validation import parse_validation
from density_study.workloads.testdfsio.output.history import parse_history
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.testdfsio.output.results import parse_results
from density_study.workloads.ycsb.output.interval_log import parse_hdr
from density_study.workloads.ycsb.output.schedule import parse_schedule
from density_study.workloads.ycsb.output.status import parse_status
from density_study.workloads.ycsb.output.summary import parse_summary

Parser = Callable[[bytes | str, str], Parsed[Any]]

SAMPLES = Path(__file__).parents[1] / "samples"
PARSERS: tuple[Parser, ...] = (
    parse_results,
    parse_io_part,
    parse_history,
    parse_summary,
    parse_status,
    parse_hdr,
    parse_schedule,
    parse_dool,
    parse_nodecpu,
    parse_sar,
    parse_device,
    parse_gc,
    parse_stalls,
    parse_slow_log,
    parse_jfr,
    parse_stages,
    parse_answers,
    parse_validation,
    parse_queries,
)
_KINDS: tuple[tuple[str, Parser], ...] = (
    ("TestDFSIO-*.log", parse_results),
    ("TestDFSIO-*_part-*", parse_io_part),
    ("*.jhist", parse_history),
    ("ycsb-*.out", parse_summary),
    ("ycsb-*.err", parse_status),
    ("ycsb-*_timeseries.out", parse_status),
    ("ycsb-*.hdr", parse_hdr),
    ("ycsb-schedule.csv", parse_schedule),
    ("d*.csv", parse_dool),
    ("pcp-dstat.csv", parse_dool),
    ("nodecpu-*.csv", parse_nodecpu),
    ("sar-*.csv", parse_sar),
    ("telemetry-*.csv", parse_device),
    ("gc-*.csv", parse_gc),
    ("stalls-*.csv", parse_stalls),
    ("slowlog-*.csv", parse_slow_log),
    ("jfr-*.csv", parse_jfr),
    ("pipeline-*_stages.csv", parse_stages),
    ("pipeline-*_answers.csv", parse_answers),
    ("TeraValidate-*", parse_validation),
    ("sparksql-*.csv", parse_queries),
)


@dataclass(frozen=True)
class Sample:
    """A real file and its parser. Its repr is its name, because test ids show it."""

    name: str
    parse: Parser
    data: bytes

    def __repr__(self) -> str:
        return f"{self.parse.__name__}({self.name})"


def samples() -> list[Sample]:
    samples_ = []
    for pattern, parse in _KINDS:
        paths = sorted(SAMPLES.glob(pattern))
        assert paths, f"no sample {pattern}"
        samples_ += [Sample(path.name, parse, _short(path)) for path in paths]
    return samples_


def _short(path: Path) -> bytes:
    """A job history without its schema and counters: 50 KB that no parser reads."""
    data = path.read_bytes()
    if path.suffix != ".jhist":
        return data
    first, _, *events = data.decode().split("\n")
    return "\n".join([first, *(_without_counters(event) for event in events)]).encode()


def _without_counters(event: str) -> str:
    if not event:
        return event
    value = json.loads(event)
    value["event"] = {
        record: {key: item for key, item in fields.items() if not isinstance(item, dict | list)}
        for record, fields in value["event"].items()
    }
    return json.dumps(value)


_TOKENS = (
    *(b"NaN", b"\xe2\x88\x9e", b"Infinity", b"-1", b"-0", b"1e999", b"9" * 400, b"1,5", b"1_0"),
    *(
        b"",
        b",",
        b",,",
        b'"',
        b"\n",
        b"\r",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"[",
        b"{",
        b"}",
    ),
    *(b"0x1F", b"1.5", b"+3", b" ", b"\t", b"null", b"true", b"\xd9\xa1", b"#", b": ", b"=", b"0"),
)


def mutate(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """One to four damages: to a byte, a slice, a number, a line or the end; or a piece of another
    file."""
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(_DAMAGES)(data, other, rng)
    return data


def _flip(data: bytes, other: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _insert(data: bytes, other: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_TOKENS) + data[at:]


def _delete(data: bytes, other: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.randint(1, 30) :]


def _cut(data: bytes, other: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _number(data: bytes, other: bytes, rng: random.Random) -> bytes:
    digits = [at for at in range(len(data)) if data[at : at + 1].isdigit()]
    if not digits:
        return data
    start = end = rng.choice(digits)
    while data[end : end + 1].isdigit():
        end += 1
    return data[:start] + rng.choice(_TOKENS) + data[end:]


def _line(data: bytes, other: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    moved = lines.pop(at) if rng.random() < 0.7 else lines[at]
    if rng.random() < 0.7:
        lines.insert(to, moved)
    return b"\n".join(lines)


def _splice(data: bytes, other: bytes, rng: random.Random) -> bytes:
    at, from_ = rng.randrange(len(data) + 1), rng.randrange(len(other) + 1)
    return data[:at] + other[from_ : from_ + 300] + data[at:]


def _again(data: bytes, other: bytes, rng: random.Random) -> bytes:
    return data + b"\n" * rng.randrange(3) + data if len(data) < 20_000 else data


_DAMAGES = (_flip, _insert, _delete, _cut, _number, _line, _splice, _again)
