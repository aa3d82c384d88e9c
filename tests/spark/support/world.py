"""A run with one trial for each kind of problem, beside sound trials."""

from __future__ import annotations

from pathlib import Path

from density_study.workloads.base.values import ColdProof
from tests.support.records.factory import RUN, RunFactory
from tests.support.truth import MIB, Truth

V1, V2 = "b1-v1-flash", "b1-v2-flash"


def make_world(study: Path) -> tuple[Path, dict[str, Truth]]:
    """Root of the run, and each trial's truth by the name of its case."""
    factory = RunFactory(study / RUN)
    sound = {**_sound(factory), **_cost_pairs(factory)}
    truths = {**sound, **_troubled_ycsb(factory), **_troubled_dfsio(factory)}
    root = factory.close()
    for operation in ("READ", "INSERT"):
        _raw(root, truths["no_histograms"], f"ycsb-1-{operation}.hdr").unlink()
    _raw(root, truths["no_history"], "history/job_1.jhist").unlink()
    _tear(_raw(root, truths["torn_summary"], "ycsb-1.out"))
    result = _raw(root, truths["doubled_result"], "testdfsio.log")
    result.write_text(result.read_text() * 2)
    return root, truths


def _sound(factory: RunFactory) -> dict[str, Truth]:
    return {
        "write": factory.dfsio(V1, "write"),
        "read": factory.dfsio(V1, "read"),
        "load": factory.ycsb(V1, "load"),
        "mixed": factory.ycsb(V1, rate=1500),
        "scan": factory.ycsb(V1, "scan95-insert5"),
        "scan_v2": factory.ycsb(V2, "scan95-insert5"),
        "several": factory.ycsb(V1, rate=1500, threads=60, clients=3),
    }


def _cost_pairs(factory: RunFactory) -> dict[str, Truth]:
    """Three pairs of the test case of `mixed`, with and without monitors; one of the third failed."""
    pairs = {}
    for pair, (on, off) in enumerate(((900, 1000), (930, 1000), (500, 1000)), start=1):
        for rate, monitored in ((on, True), (off, False)):
            truth = factory.ycsb(V1, rate=rate, records=27_000)
            truth.overhead_pair, truth.monitored = pair, monitored
            pairs[f"cost_{pair}_{'on' if monitored else 'off'}"] = truth
    pairs["cost_3_on"].state, pairs["cost_3_on"].reasons = "failed", ("it failed",)
    return pairs


def _troubled_ycsb(factory: RunFactory) -> dict[str, Truth]:
    """Test cases differ in their threads, so that each case has its own test case."""
    trials = {
        name: factory.ycsb(V1, rate=100, threads=threads)
        for threads, name in enumerate(
            ("failing", "clock_off", "clock_unknown", "client_bound", "no_histograms", "torn_summary",
             "died", "interrupted", "short"), start=20,
        )
    }  # fmt: skip
    trials["lossy"] = factory.ycsb(V1, seconds=46, rate=20, threads=40)
    trials["failing"].returns["READ"] = {"OK": 45 * 18, "ERROR": 3}
    trials["clock_off"].clock_offset_s = trials["clock_off"].measured_clock_s = 1.0
    trials["clock_unknown"].measured_clock_s = None
    _busy_client(trials["client_bound"])
    trials["late"] = factory.ycsb(V1, rate=100, threads=90, clients=2)
    trials["late"].late_s = 3.0
    trials["died"].exit_code, trials["died"].state = 137, "failed"
    trials["died"].reasons = ("ycsb-1 ended with 137",)
    trials["interrupted"].state = "incomplete"
    trials["interrupted"].reasons = ("the run was interrupted",)
    trials["short"].returns["READ"] = {"OK": 45 * 18}
    trials["short"].test_case = trials["short"].test_case.model_copy(update={"duration_s": 60.0})
    _lose(trials["lossy"], 3)
    trials["drifting"] = factory.ycsb(V1, rate=300, threads=42)
    _slow_down(trials["drifting"], 0.7)
    leaky = trials["leaky"] = factory.ycsb(V1, rate=200, threads=43)
    leaky.threads_between_operations = 0.9
    trials["thinkless"] = factory.ycsb(V1, rate=200, threads=44)
    trials["thinkless"].threads_between_operations = None
    trials["thinkless_load"] = factory.ycsb(V1, "load", rate=200, threads=45)
    trials["thinkless_load"].threads_between_operations = None
    leaky_load = trials["leaky_load"] = factory.ycsb(V1, "load", rate=200, threads=46)
    leaky_load.threads_between_operations = 0.9
    trials["short_load"] = factory.ycsb(V1, "load", seconds=4, rate=200, threads=47)
    late = trials["late_monitor"] = factory.ycsb(V1, rate=100, threads=41)
    late.dool = [(at_s, cells) for at_s, cells in late.dool if at_s > late.start_s + 2]
    return trials


def _busy_client(truth: Truth) -> None:
    """The client's ticks grow by 180 of the 200 that two cores provide per second."""
    for number, (_, nodes) in enumerate(truth.ticks):
        if "c1" in nodes:
            nodes["c1"] = (number * 170, number * 10)


def _slow_down(truth: Truth, share: float) -> None:
    """From the fourteenth second, the rate is multiplied by `share`."""
    for operation, seconds in truth.latencies_us.items():
        for number in range(13, len(seconds)):
            seconds[number] = seconds[number][: round(share * len(seconds[number]))]
        truth.returns[operation] = {"OK": sum(map(len, seconds))}


def _lose(truth: Truth, count: int) -> None:
    """Drops every tenth sample of dool within the window, `count` times: 3 of 50 are 6 %."""
    inside = [n for n, (at_s, _) in enumerate(truth.dool) if truth.start_s + 5 < at_s < truth.end_s]
    for index in inside[: count * 10 : 10][::-1]:
        del truth.dool[index]


def _troubled_dfsio(factory: RunFactory) -> dict[str, Truth]:
    warm = factory.dfsio(V1, "read", files=7)
    warm.cold = _cold(read=100 * MIB)
    unknown = factory.dfsio(V1, "read", files=8)
    unknown.cold = ColdProof(method="evict")
    by_dool = factory.dfsio(V1, "read", files=9)
    by_dool.cold = _cold(read=None)
    fast = factory.dfsio(V1, "random", files=10)
    fast.streams = [(64 * MIB, 1000)] * 10
    slow = factory.dfsio(V1, "backward", files=10)
    slow.streams = [(64 * MIB, 1400)] * 10
    lost = factory.dfsio(V1, "write", files=11)
    alone = factory.dfsio(V1, "random", files=12, readers=1)
    alone.streams = [(64 * MIB, 500)] * 12
    crowd = factory.dfsio(V1, "skip", files=12, readers=3)
    crowd.streams = [(32 * MIB, 1000)] * 12
    stopped = factory.dfsio(V1, "skip", files=13)
    stopped.streams = [(32 * MIB, 700)] * 12 + [(24 * MIB, 500)]
    doubled = factory.dfsio(V1, "write", files=14)
    cached = factory.dfsio(V1, "write", files=15)
    cached.state_after = {"unwritten": {"bytes": 240 * MIB, "write_out_s": 24.0}}  # of 960
    far = factory.dfsio(V1, "read", files=16)
    far.state_after = {
        "hdfs_read": {"sent": 1000 * MIB, "local": 700 * MIB, "rack": 0, "remote": 300 * MIB}
    }
    mixed = factory.dfsio(V1, "read", files=17)
    mixed.state_after = {
        "hdfs_read": {"sent": 1200 * MIB, "local": 300 * MIB, "rack": None, "remote": None}
    }
    return {"in_memory": cached, "far": far, "mixed_distance": mixed,
            "no_history": lost, "warm": warm, "cold_unknown": unknown, "cold_by_dool": by_dool,
            "fast_random": fast, "slow_backward": slow, "one_reader": alone, "three_readers": crowd,
            "stopped_skip": stopped, "doubled_result": doubled}  # fmt: skip


def _cold(read: int | None) -> ColdProof:
    return ColdProof(method="evict", distinct_bytes_asked=448 * MIB, physical_read_bytes=read)


def _raw(root: Path, truth: Truth, name: str) -> Path:
    return root / "records" / truth.trial / "raw" / name


def _tear(path: Path) -> None:
    """A last line in another locale, which no parser may read as a number."""
    path.write_text(path.read_text() + "[READ], Return=OK, 1,2\n")
