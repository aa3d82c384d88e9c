"""Telemetry devices: their declaration, their file format, and counters of /proc."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors import DEVICES, MONITORS, last_epoch_s, with_devices
from density_study.workloads.monitors.devices import devices, header, parse_device, title
from density_study.workloads.monitors.proc_counters import disks, network, pressure, sockets
from density_study.workloads.study.keys import DeviceName

ROOT = Path(__file__).parents[4]
TEXT = f"""\
{title("h1", "disks")}
{header(("reads", "read_ms"))}
1795196683.000,sda,10,20
1795196683.000,sdb,1,
1795196684.000,sda,12,26.5
"""


def test_every_metric_is_made_of_columns_of_its_device() -> None:
    for device in devices().values():
        names = [metric.name for metric in device.metrics]
        assert len(names) == len(set(names))
        for metric in device.metrics:
            made_of = [metric.rate, *metric.ratio, metric.gauge, metric.when]
            assert {column for column in made_of if column} <= set(device.columns), metric
            assert sum(map(bool, (metric.rate, metric.ratio, metric.gauge))) == 1, metric
        for chart in {metric.chart for metric in device.metrics}:
            assert len({m.unit for m in device.metrics if m.chart == chart}) == 1, chart


def test_no_device_runs_by_default() -> None:
    assert set(with_devices(())) == set(MONITORS)
    assert set(with_devices(("disks",))) == {*MONITORS, "disks"}
    assert not set(MONITORS) & set(DEVICES)


def test_a_whole_file() -> None:
    parsed = parse_device(TEXT, "f")
    assert [(row.source, row.names, row.values) for row in parsed.rows] == [
        ("sda", ("reads", "read_ms"), (10.0, 20.0)),
        ("sdb", ("reads",), (1.0,)),  # an empty cell is not zero
        ("sda", ("reads", "read_ms"), (12.0, 26.5)),
    ]
    assert {(row.host, row.device) for row in parsed.rows} == {("h1", "disks")}
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (3, 2, ())


@pytest.mark.parametrize(
    "damage, reason",
    [
        (("sda,12,26.5", "sda,12"), "1 cells under 2 columns"),
        (("sda,12,26.5", "sda,12,26.5,1"), "3 cells under 2 columns"),
        (("sda,12,26.5", "sda,-12,26.5"), "negative"),
        (("sda,12,26.5", "sda,x,26.5"), "not a number"),
        (("84.000,sda", "83.000,sda"), "time of sda goes back, or occurs twice"),
        (("84.000,sda", "84.000,"), "not a source"),
        (("1795196684.000,sda", "17951.0,sda"), "not of this century"),
        (("26.5\n", "26.5"), "cut off"),
    ],
)
def test_a_damaged_row_is_quarantined_alone(damage: tuple[str, str], reason: str) -> None:
    assert damage[0] in TEXT
    parsed = parse_device(TEXT.replace(*damage), "f")
    (quarantined,) = parsed.quarantined
    assert (quarantined.line, reason in quarantined.reason) == (5, True), quarantined.reason
    assert len(parsed.rows) == 2


def test_rows_under_a_damaged_header_are_not_read() -> None:
    for damage in (("epoch_s,source,", "epoch,source,"), ("read_ms\n", "reads\n")):
        assert parse_device(TEXT.replace(*damage), "f").rows == ()


@pytest.mark.parametrize(
    "text, reason",
    [("", "no device file"), (TEXT.replace("format 1", "format 2"), "reads format 1")],
)
def test_another_file_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        parse_device(text, "f")


def _proc(tmp_path: Path) -> Path:
    proc = tmp_path / "proc"
    for path, text in {
        "pressure/cpu": "some avg10=1 avg60=1 avg300=1 total=100\nfull avg10=0 avg60=0 avg300=0 total=0\n",
        "pressure/io": "some avg10=0 avg60=0 avg300=0 total=7\nfull avg10=0 avg60=0 avg300=0 total=5\n",
        "pressure/memory": "some avg10=0 avg60=0 avg300=0 total=3\nfull avg10=0 avg60=0 avg300=0 total=2\n",
        "diskstats": "   8  0 sda 10 1 80 33 20 2 160 44 0 55 66 0 0 0 0 7 8\n"
        "   8  1 sda1 9 1 80 33 20 2 160 44 0 55 66\n   7  0 loop0 0 0 0 0 0 0 0 0 0 0 0\n",
        "stat": "cpu  9 9 9 9 9 9 99 9\ncpu0 1 2 3 4 5 6 70 8\ncpu1 1 2 3 4 5 6 7 8\nintr 9\n",
        "net/softnet_stat": "0000000a 00000001 00000002 0 0 0 0 0 0 00000003 0 0 00000000\n",
        "net/snmp": "Ip: A B\nIp: 1 2\nTcp: InSegs OutSegs RetransSegs\nTcp: 5 6 7\n",
        "net/netstat": "TcpExt: ListenOverflows TCPTimeouts\nTcpExt: 8 9\n",
        "net/sockstat": "sockets: used 14\nTCP: inuse 3 orphan 0 tw 12 alloc 1 mem 0\n",
    }.items():
        (proc / path).parent.mkdir(parents=True, exist_ok=True)
        (proc / path).write_text(text)
    for name in ("sda", "loop0"):
        (tmp_path / "sys" / "block" / name).mkdir(parents=True)
    return proc


def test_counters_of_proc(tmp_path: Path) -> None:
    proc = _proc(tmp_path)
    stalls = pressure(proc)["host"]
    assert {name: stalls[name] for name in devices()["pressure"].columns} == {
        "cpu_some_us": 100, "io_some_us": 7, "io_full_us": 5, "memory_some_us": 3, "memory_full_us": 2,
    }  # fmt: skip
    assert disks(proc) == {  # neither the partition nor the disk that nobody has used
        "sda": {"reads": 10, "read_ms": 33, "writes": 20, "write_ms": 44, "busy_ms": 55, "queued_ms": 66}
    }  # fmt: skip
    tick_ms = 1000 / os.sysconf("SC_CLK_TCK")
    assert network(proc) == {  # the kernel tells no packets of the other CPU
        "cpu0": {
            "packets": 10,
            "dropped": 1,
            "squeezed": 2,
            "steered": 3,
            "softirq_ms": 70 * tick_ms,
        },
        "cpu1": {"softirq_ms": 7 * tick_ms},
    }
    assert sockets(proc)["host"] == {
        "sent_segments": 6, "retransmitted": 7, "timeouts": 9, "listen_overflows": 8,
        "in_use": 3, "time_wait": 12,
    }  # fmt: skip


def test_what_the_kernel_does_not_tell_is_left_out(tmp_path: Path) -> None:
    proc = _proc(tmp_path)
    (proc / "net" / "sockstat").unlink()
    (proc / "net" / "netstat").write_text("")
    assert sockets(proc)["host"] == {"sent_segments": 6, "retransmitted": 7}
    (proc / "pressure" / "io").unlink()
    with pytest.raises(OSError):  # the study asked for it: no zeros in its place
        pressure(proc)


@pytest.mark.parametrize("device", ("disks", "sockets", "network"))
def test_the_sampler_writes_what_the_parser_reads(device: str, tmp_path: Path) -> None:
    output = tmp_path / f"h1.{device}.csv"
    command = with_devices([device])[device]("h1", str(output), 0.1, "s/r/b", (sys.executable,))
    sampler = subprocess.Popen(command.argv, env={**command.env, "PYTHONPATH": str(ROOT)})
    try:
        while not output.exists() or output.read_text().count("\n") < 6:
            assert sampler.poll() is None
            time.sleep(0.02)
        sampler.send_signal(signal.SIGTERM)
        assert sampler.wait(5) == 0
    finally:
        sampler.kill()
    parsed = parse_device(output.read_bytes(), "f")
    assert parsed.quarantined == ()
    assert set(parsed.rows[0].names) <= set(devices()[device].columns)
    assert last_epoch_s(output.read_text()) == parsed.rows[-1].epoch_s


def test_a_study_may_name_every_device_and_no_other() -> None:
    assert set(get_args(DeviceName)) == set(DEVICES)
