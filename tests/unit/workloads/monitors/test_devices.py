"""Telemetry devices: their declaration, their file format, and counters of /proc."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors import (
    DEFAULT_DEVICES,
    DEVICES,
    MONITORS,
    hardware,
    last_epoch_s,
    with_devices,
)
from density_study.workloads.monitors.daemon_states import MOST_BYTES, DaemonStates
from density_study.workloads.monitors.devices import devices, header, parse_device, title
from density_study.workloads.monitors.hardware import SOFTWARE, Hardware
from density_study.workloads.monitors.limits import Limits
from density_study.workloads.monitors.proc_counters import (
    Kernel,
    Sockets,
    cards,
    disks,
    memory,
    network,
    pressure,
    tcp,
)
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
    assert set(with_devices(("jmx", "disks"))) == {*MONITORS, "jmx"}
    assert set(MONITORS) & set(DEVICES) == set(DEFAULT_DEVICES)


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
    for name, text in {
        "vmstat": "nr_dirty 3\nnr_writeback 2\nnr_writeback_temp 9\nnr_dirty_threshold 9\npswpin 1\n"
        "pswpout 4\npgmajfault 5\nallocstall_dma 1\nallocstall_normal 6\ncompact_stall 7\nnuma_miss 8\n",
        "schedstat": "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 9 3000000 1\ndomain0 3 1\n"
        "cpu1 0 0 0 0 0 0 9 4000000 1\n",
    }.items():
        (proc / name).write_text(text)
    return proc


def _card(tmp_path: Path, speed: str = "1000") -> None:
    card = tmp_path / "sys" / "class" / "net" / "eth0"
    for name, value in {"rx_bytes": 125_000, "tx_bytes": 250_000, "rx_dropped": 1, "tx_dropped": 2,
                        "rx_missed_errors": 3, "rx_fifo_errors": 4}.items():  # fmt: skip
        (card / "statistics").mkdir(parents=True, exist_ok=True)
        (card / "statistics" / name).write_text(f"{value}\n")
    (card / "device").mkdir()
    (card / "speed").write_text(f"{speed}\n")
    (card.parent / "veth1" / "statistics").mkdir(parents=True)  # a pair of interfaces: no card


def test_counters_of_proc(tmp_path: Path) -> None:
    proc = _proc(tmp_path)
    stalls = pressure(proc)["host"]
    assert {name: stalls[name] for name in devices()["pressure"].columns} == {
        "cpu_some_us": 100, "io_some_us": 7, "io_full_us": 5, "memory_some_us": 3, "memory_full_us": 2,
        "run_delay_ms": 7.0,
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
    assert tcp(proc) == {
        "sent_segments": 6, "retransmitted": 7, "timeouts": 9, "listen_overflows": 8,
        "in_use": 3, "time_wait": 12, "memory_bytes": 0,
    }  # fmt: skip


def test_what_the_kernel_does_not_tell_is_left_out(tmp_path: Path) -> None:
    proc = _proc(tmp_path)
    (proc / "net" / "sockstat").unlink()
    (proc / "net" / "netstat").write_text("")
    assert tcp(proc) == {"sent_segments": 6, "retransmitted": 7}
    (proc / "pressure" / "io").unlink()
    (proc / "schedstat").unlink()
    assert set(pressure(proc)["host"]) == {
        "cpu_some_us", "cpu_full_us", "memory_some_us", "memory_full_us"
    }  # fmt: skip


def test_a_card_counts_its_drops_and_the_time_of_its_bytes_on_the_link(tmp_path: Path) -> None:
    proc = _proc(tmp_path)
    _card(tmp_path)
    assert dict(cards(proc))["eth0"] == {"card_drops": 10, "receive_ms": 1.0, "send_ms": 2.0}
    (tmp_path / "sys/class/net/eth0/speed").write_text(
        "-1\n"
    )  # unknown to the driver: no use of it
    assert dict(cards(proc))["eth0"] == {"card_drops": 10}
    assert "veth1" not in dict(cards(proc))


def _namespace(proc: Path, process: str, name: str, sent: int) -> None:
    (proc / process / "ns").mkdir(parents=True)
    (proc / process / "ns" / "net").symlink_to(name)
    (proc / process / "net").mkdir()
    (proc / process / "net" / "snmp").write_text(f"Tcp: OutSegs RetransSegs\nTcp: {sent} 1\n")
    (proc / process / "net" / "netstat").write_text("TcpExt: TCPTimeouts\nTcpExt: 2\n")
    (proc / process / "net" / "sockstat").write_text("TCP: inuse 3 tw 4 mem 5\n")


def test_nodes_with_networks_of_their_own_have_counters_of_their_own(tmp_path: Path) -> None:
    """A container's packets are lost in its own network: the host's counters do not know of them."""
    proc = _proc(tmp_path)
    _namespace(proc, "self", "net:[1]", 0)
    _namespace(proc, "7", "net:[1]", 0)  # on the host's network
    for process, name, sent in (("8", "net:[2]", 80), ("9", "net:[2]", 80), ("10", "net:[3]", 90)):
        _namespace(proc, process, name, sent)
    found = Sockets("s/r/b", proc).of_nodes({7: "monitor", 8: "w1", 9: "w1", 10: "w2", 11: "gone"})
    alike = {"retransmitted": 1, "timeouts": 2, "in_use": 3, "time_wait": 4}
    assert found == {"w1": {"sent_segments": 80, **alike}, "w2": {"sent_segments": 90, **alike}}
    shared = Sockets("s/r/b", proc).of_nodes({8: "w1", 9: "w2"})
    assert shared == {"nodes": {"sent_segments": 80, **alike}}


def test_counters_of_the_kernel(tmp_path: Path) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    assert memory(_proc(tmp_path)) == {
        "swapped_bytes": 5 * page, "major_faults": 5, "direct_reclaims": 7, "huge_page_stalls": 7,
        "numa_misses": 8, "dirty_bytes": 3 * page, "writeback_bytes": 2 * page,
    }  # fmt: skip


def test_a_step_of_the_clock_shows_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Kernel(_proc(tmp_path))
    true_s = time.time
    assert clock.read()["host"]["clock_step_ms"] < 100
    monkeypatch.setattr(time, "time", lambda: true_s() - 5.0)
    assert clock.read()["host"]["clock_step_ms"] == pytest.approx(5000, abs=100)
    assert clock.read()["host"]["clock_step_ms"] < 100


@pytest.mark.parametrize("version", (1, 2))
def test_a_cpu_limit_of_a_cgroup_or_of_one_above_it_counts(tmp_path: Path, version: int) -> None:
    root = "sys/fs/cgroup" if version == 2 else "sys/fs/cgroup/cpu"
    line = "0::/a/b\n" if version == 2 else "4:memory:/m\n3:cpu,cpuacct:/a/b\n"
    throttled = "throttled_usec 3000" if version == 2 else "throttled_time 3000000"
    for path, text in {
        "proc/7/cgroup": line,
        f"{root}/a/b/cpu.stat": f"nr_periods 9\n{throttled}\n",
        f"{root}/a/cpu.stat": f"{throttled}\n",
        f"{root}/cpu.stat": "nr_periods 9\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    limits = Limits("s/r/b", tmp_path)
    found = set(limits.cgroups(7))
    assert found == {"/a/b", "/a", ""}
    assert sum(map(limits.throttled_ms, found)) == pytest.approx(6.0)
    assert list(limits.cgroups(8)) == []  # it has ended


def _process(proc: Path, pid: int, state: str, *arguments: str) -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stat").write_text(f"{pid} (java) {state} 1 2 3\n")
    (folder / "cmdline").write_text("\0".join(("java", *arguments)))
    if not (folder / "exe").is_symlink():
        (folder / "exe").symlink_to("/usr/bin/java")


def test_a_daemon_that_is_stopped_or_has_ended_shows(tmp_path: Path) -> None:
    proc, logs = (
        tmp_path / "proc",
        {name: tmp_path / f"{name}.log" for name in ("datanode", "zookeeper")},
    )
    for pid, log in enumerate(logs.values(), start=7):
        log.write_text("No space left on device: before the trial\n")
        _process(proc, pid, "S", f"-Dstudy.log={log}")
    _process(proc, 9, "S", "-Djava.io.tmpdir=/x")
    nodes = {7: "w1", 8: "m1", 9: "c1"}
    daemons = DaemonStates(proc)
    first = daemons.read(nodes)["w1/datanode"]
    assert first == {**dict.fromkeys(first, 0), "log_bytes": 42}
    assert {"stopped", "ended", "safe_mode"} < set(first) < set(devices()["limits"].columns)
    _process(proc, 8, "T")
    with logs["datanode"].open("a") as log:
        log.write("java.io.IOException: No space left on device\n" * 3)
        log.write("Xceiver count 5 exceeds the limit of concurrent xceivers: 4\n")
    found = daemons.read(nodes)
    assert (found["m1/zookeeper"]["stopped"], found["c1/client"]) == (1, {"stopped": 0})
    assert [found["w1/datanode"][name] for name in ("no_space", "refused_transfers")] == [3, 1]
    shutil.rmtree(proc / "7")
    shutil.rmtree(proc / "9")
    found = daemons.read({8: "m1"})
    assert (found["w1/datanode"]["ended"], found["m1/zookeeper"]["ended"]) == (1, 0)
    assert "c1/client" not in found  # its work is done
    _process(proc, 10, "S", f"-Dstudy.log={logs['datanode']}")
    assert daemons.read({8: "m1", 10: "w1"})["w1/datanode"]["ended"] == 0


def test_a_log_that_begins_anew_is_read_from_its_start(tmp_path: Path) -> None:
    log = tmp_path / "datanode.log"
    log.write_text("x\n" * 100)
    _process(tmp_path, 7, "S", f"-Dstudy.log={log}")
    daemons, nodes = DaemonStates(tmp_path), {7: "w1"}
    daemons.read(nodes)
    log.write_text("No space left on device\n")
    assert daemons.read(nodes)["w1/datanode"]["no_space"] == 1
    with log.open("a") as file:
        file.write("x" * (2 * MOST_BYTES) + "No space left on device\n")
    found = daemons.read(nodes)["w1/datanode"]
    assert (found["no_space"], found["log_bytes"]) == (2, 2 * MOST_BYTES + 48)
    log.unlink()
    assert daemons.read(nodes)["w1/datanode"]["no_space"] == 2


def test_a_log_that_cannot_be_read_does_not_count_as_one_without_errors(tmp_path: Path) -> None:
    (log := tmp_path / "datanode.log").mkdir()  # root reads every file
    _process(tmp_path, 7, "S", f"-Dstudy.log={log}")
    assert DaemonStates(tmp_path).read({7: "w1"}) == {"w1/datanode": {"stopped": 0, "ended": 0}}


def test_a_disk_has_the_free_space_of_its_fullest_file_system(tmp_path: Path) -> None:
    proc, here = _proc(tmp_path), os.statvfs(tmp_path)
    (proc / "self").mkdir()
    (tmp_path / "ü b").mkdir()
    text = (
        "fuse /home/u/a\u2028b fuse rw 0 0\nfuse /home/u/\udcff fuse rw 0 0\n"
        f"/dev/sda {tmp_path}/ü\\040b ext4 rw,relatime 0 0\n/dev/sda /nowhere ext4 rw 0 0\n"
        "/dev/sda /proc iso9660 ro 0 0\nproc /proc proc rw 0 0\n"
    )
    (proc / "self" / "mounts").write_bytes(os.fsencode(text))
    free = disks(proc)["sda"]["free_percent"]
    assert free == pytest.approx(100 * here.f_bavail / here.f_blocks, abs=1)


def test_events_of_all_cpus_are_counted() -> None:
    """By an event that every kernel counts: CPUs of virtual machines often count nothing."""
    switches = Hardware(SOFTWARE, {"switches": 3})
    (before,) = switches.read().values()
    if not before:
        pytest.skip("kernel.perf_event_paranoid does not let this user count")
    for _ in range(50):
        time.sleep(0.001)
    (after,) = switches.read().values()
    assert after["switches"] >= before["switches"] + 50


def test_what_cannot_be_counted_is_left_out() -> None:
    assert Hardware(SOFTWARE, {"none": 10**6}).read() == {"host": {}}


@pytest.mark.parametrize(
    ("second", "found"),
    [((8, 100, 50), {"cycles": 26.0}), ((0, 0, 0), {"cycles": 10.0}), ((0, 100, 0), {})],
)
def test_a_counter_that_another_program_has_is_unknown_and_not_zero(
    monkeypatch: pytest.MonkeyPatch, second: tuple[int, int, int], found: dict[str, float]
) -> None:
    """The kernel's watchdog takes a counter of each CPU: the sum lacked those that never ran."""
    counters = Hardware(SOFTWARE, {})
    counters._files["cycles"] = [1, 2]
    read = {1: struct.pack("=QQQ", 10, 100, 100), 2: struct.pack("=QQQ", *second)}
    monkeypatch.setattr(hardware.os, "read", lambda file, _: read[file])
    assert counters.read() == {"host": found}


@pytest.mark.parametrize("device", ("disks", "sockets", "network", "kernel", "limits", "hardware"))
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
