"""Daemons that stand still: when they do, what their threads and the kernel say, and the device's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors.daemons.stall_watch import STOPPED, StallWatch, of_kernel
from density_study.workloads.monitors.daemons.stalls import Pulse, dump_name, dumps, parse_stalls
from density_study.workloads.monitors.daemons.thread_dump import words_of
from density_study.workloads.monitors.daemons.watcher import Order

SAMPLES = Path(__file__).parents[3] / "samples"
SAMPLE = (SAMPLES / "stalls-1.csv").read_text()
DUMP = (SAMPLES / "thread-dump-1.txt").read_text()


def test_a_file() -> None:
    parsed = parse_stalls(SAMPLE, "f")
    assert parsed.quarantined == ()
    found = [(row.source, row.event) for row in parsed.rows if row.event]
    assert [(source, one.kind, one.duration_ms) for source, one in found] == [
        ("w2/regionserver-1", "stall", 3000.0), ("w1/datanode", "stall", 2100.0),
    ]  # fmt: skip
    assert found[0][1].what == "it did not answer; the process was stopped by a signal"
    assert dumps("h1", SAMPLE) == [dump_name("h1", "w1/datanode", 1)]
    assert dumps("h1", "") == ()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (("3000,0,it", "3000,x,it"), "not a number"),
        (("3000,0,it", "-3,0,it"), "negative"),
        (
            ("3000,0,it did not answer; the process was stopped by a signal", "3000,0,"),
            "without words",
        ),
        (("w2/regionserver-1", "../w2"), "not a daemon"),
        (("1795507630.900,,", "1795507620.900,,"), "time goes back"),
    ],
)
def test_a_damaged_row_is_quarantined_alone(damage: tuple[str, str], reason: str) -> None:
    parsed = parse_stalls(SAMPLE.replace(*damage), "f")
    (quarantined,) = parsed.quarantined
    assert reason in quarantined.reason
    assert len(parsed.rows) == len(parse_stalls(SAMPLE, "f").rows) - 1


def test_another_file_is_refused() -> None:
    with pytest.raises(ParseError, match="no stalls file"):
        parse_stalls("# gc format 1, host=h1\n", "f")


def answer(calls: float, active: float = 3, blocked: float = 0) -> dict[str, float]:
    return {"calls": calls, "active_handlers": active, "blocked_threads": blocked}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([answer(10), {}, {}, {}], (0.0, "it did not answer")),
        ([answer(10), {}, answer(11), {}], None),
        ([answer(10), answer(10), answer(10), answer(10)], (0.0, "no call of 3 ended")),
        ([answer(10), answer(10), answer(10, active=0), answer(10)], None),  # nothing to do
        ([answer(10), answer(11), answer(12), answer(13)], None),
        ([answer(1), answer(2, blocked=9), answer(3, blocked=9), answer(4, blocked=9)],
         (0.0, "9 threads were blocked")),
        ([answer(1), answer(2, blocked=9), answer(3), answer(4, blocked=9)], None),
        ([{}, {}, {}, {}], None),  # it never answered
        ([{"blocked_threads": 0.0}] * 4, None),  # a DataNode has no calls
    ],
)  # fmt: skip
def test_a_daemon_that_stands_still_for_two_seconds(
    answers: list[dict[str, float]], expected: tuple[float, str] | None
) -> None:
    pulse = Pulse()
    found = [pulse.stall(float(second), one) for second, one in enumerate(answers)]
    assert found[:2] == [None, None] and found[-1] == expected


def test_a_lock_and_who_holds_it() -> None:
    assert words_of(DUMP) == (
        "2 threads wait in HStore.add for a lock (Object), which MemStoreFlusher.0 holds in HStore.snapshot"
    )


def test_a_lock_that_threads_park_for() -> None:
    parked = DUMP.replace("- waiting to lock <0x00000000d1c0a5e8> (a java.lang.Object)",
                          "- parking to wait for  <0x00000000d1c0b000> "
                          "(a java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync)")  # fmt: skip
    parked = parked.replace("BLOCKED (on object monitor)", "WAITING (parking)")
    assert "for a lock (ReentrantReadWriteLock$NonfairSync), which MemStoreFlusher.0" in words_of(
        parked
    )


def test_handlers_that_wait_at_one_place_and_idle_ones() -> None:
    none = DUMP.replace(
        "- waiting to lock <0x00000000d1c0a5e8>", "- waiting on <0x00000000d1c0a5e8>"
    )
    assert words_of(none) == "2 of 3 handlers are in HStore.add"
    idle = none.replace(
        "org.apache.hadoop.hbase.regionserver.HStore.add",
        "org.apache.hadoop.hbase.ipc.RpcExecutor.x",
    )
    assert words_of(idle) == "" == words_of("")


def test_a_lock_that_its_waiter_let_go_has_no_owner() -> None:
    waits = DUMP.replace(
        "	- locked <0x00000000d1c0a5e8>",
        "	- waiting on <0x00000000d1c0a5e8>\n	- locked <0x00000000d1c0a5e8>",
    )
    assert "whose owner the dump does not name" in words_of(waits)


@pytest.mark.parametrize(
    ("states", "expected"),
    [("TTT", STOPPED), ("TTS", ""), ("SSS", ""),
     ("SDD", "2 threads wait in the kernel (jbd2_log_wait_commit), as for a disk")],
)  # fmt: skip
def test_what_the_kernel_says(tmp_path: Path, states: str, expected: str) -> None:
    for number, state in enumerate(states):
        task = tmp_path / "task" / str(number)
        task.mkdir(parents=True)
        (task / "stat").write_text(f"{number} (a ) b) {state} 1 2 3\n")
        (task / "wchan").write_text("jbd2_log_wait_commit" if state == "D" else "0")
    assert of_kernel(tmp_path) == expected


def test_a_stall_that_goes_on_at_the_end_has_its_row(tmp_path: Path) -> None:
    watch = StallWatch(Order("h1", "t", tmp_path / "h1.stalls.csv", {}, "", Path()))
    watch.begin()
    watch._pids = {"w1/datanode": 2**22 + 1}  # no such process: it gives no dump
    answers = iter([{"w1/datanode": {"calls": 1.0}}, *[{"w1/datanode": {}}] * 3])
    watch._poller.read = lambda: next(answers)  # type: ignore[method-assign]
    rows = [watch.rows(1795507625.0 + second) for second in range(4)]
    rows.append(watch.last_rows(1795507629.0))
    (row,) = [row for row in parse_stalls(watch.head + "".join(rows), "f").rows if row.event]
    assert row.event is not None and row.event.duration_ms == 4000.0
    assert row.event.what.startswith("it did not answer; it gave no thread dump")
