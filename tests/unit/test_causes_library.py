"""The library of causes: its table, how injections are undone, its plan and its score."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from density_study.analysis.explanation.course import Course, Place, Series
from density_study.analysis.explanation.rules import rules
from density_study.cluster.machine import io_limits
from density_study.workloads.monitors import WATCHING
from density_study.workloads.planning.plan import Plan
from tests.causes import page
from tests.causes.disturbance import AT_S, HERE, Disturbance, disturbances
from tests.causes.injections import INJECTIONS, MIB, Target, needs, sent_bytes
from tests.causes.keeper import COMMAND
from tests.causes.library import QUIET, kind_of, planned, quiet_trials
from tests.causes.score import Score, Trial, score, trials_of
from tests.prove.groups import ROOT
from tests.support.drafts import plan

KNOWN = disturbances()
NOWHERE = Target({}, {}, {}, "/tmp")


def test_there_are_thirty_and_every_typical_reason_lasts_and_passes() -> None:
    assert len(KNOWN) >= 30
    reasons = {(one.reason, one.lasts) for one in KNOWN.values() if one.reason}
    assert len({reason for reason, _ in reasons}) >= 6
    assert len(reasons) == 2 * len({reason for reason, _ in reasons})


@pytest.mark.parametrize("one", KNOWN.values(), ids=KNOWN)
def test_a_disturbance_can_be_injected_and_judged(one: Disturbance) -> None:
    assert not one.expect & one.friends
    if one.kind in INJECTIONS:
        inspect.signature(INJECTIONS[one.kind]).bind(NOWHERE, **one.arguments)
    else:
        assert f'case "{one.kind}":' in (HERE / "Meddle.java").read_text("utf-8")
        assert set(one.arguments) <= {"threads", "every_s"}


def test_what_is_expected_are_ids_of_rules() -> None:
    expected = {name for one in KNOWN.values() for name in one.expect | one.friends}
    assert expected - set(rules()) == set()


def test_the_page_of_investigations_names_rules() -> None:
    text = (ROOT / "docs" / "nineteen-investigations.md").read_text("utf-8")
    rows = [line.split(" | ")[3:] for line in text.splitlines() if re.match(r"\| \d", line)]
    found = [words for today, words in rows if today == "named"]
    assert len(rows) == 19 and len(found) >= 14
    others = {*WATCHING, "jmx", "factors.stack.java"}
    named = {word for _, words in rows for word in re.findall(r"`([\w.-]+)`", words)}
    assert named - others <= set(rules())


@pytest.fixture
def victim() -> Any:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield psutil.Process(process.pid)
        process.kill()


def order(victim: psutil.Process, for_s: float, kind: str = "stop") -> str:
    target = {"daemons": {"w1/sleep": victim.pid}, "nodes": {}, "groups": {}, "disk": "/tmp"}
    arguments = {"daemons": "w1/*"} if kind == "stop" else {"processes": 1}
    return json.dumps({"kind": kind, "arguments": arguments, "target": target,
                       "at_epoch_s": time.time(), "for_s": for_s})  # fmt: skip


def wait_for(wanted: Callable[[], object], within_s: float = 120.0) -> None:
    until_s = time.monotonic() + within_s
    while not wanted():
        assert time.monotonic() < until_s
        time.sleep(0.05)


def stopped(victim: psutil.Process) -> bool:
    return str(victim.status()) == psutil.STATUS_STOPPED


def test_it_is_undone_when_its_time_is_over(victim: psutil.Process) -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdin is not None
        one.stdin.write(order(victim, 1.0))
        one.stdin.close()
        wait_for(lambda: stopped(victim))
        assert one.wait() == 0
        facts = [json.loads(line) for line in one.stdout or ()]
    assert not stopped(victim)
    assert 1.0 <= facts[1]["ended"] - facts[0]["begun"] < 3.0


def test_it_is_undone_when_whoever_asked_for_it_is_killed(
    victim: psutil.Process, tmp_path: Path
) -> None:
    (tmp_path / "order").write_text(order(victim, 60.0))
    script = f"{' '.join(COMMAND)} < {tmp_path / 'order'} & wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.DEVNULL) as parent:
        wait_for(lambda: stopped(victim))
        parent.kill()
    wait_for(lambda: not stopped(victim))


def test_programs_end_with_a_keeper_that_is_killed(victim: psutil.Process) -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        assert one.stdin is not None and one.stdout is not None
        one.stdin.write(order(victim, 60.0, "burn"))
        one.stdin.close()
        one.stdout.readline()
        burners = psutil.Process(one.pid).children()
        assert len(burners) == 1
        os.kill(one.pid, signal.SIGKILL)
    assert psutil.wait_procs(burners, 10)[1] == []


def test_one_that_passes_begins_when_a_job_does_its_work() -> None:
    assert KNOWN["gc-pause"].at_s(300.0) == KNOWN["gc-pause"].at_s(40.0) == AT_S
    assert KNOWN["hdfs-datanode-stopped"].at_s(300.0) == 180.0


def test_what_a_node_sends_is_counted_without_loopback(node: Target) -> None:
    before = sent_bytes(node.nodes["w1"])
    run(node.nodes["w1"], "ip", "link", "add", "eth8", "type", "veth", "peer", "name", "eth9")
    run(node.nodes["w1"], "ip", "address", "add", "198.18.77.1/24", "dev", "eth8")
    for device in ("lo", "eth8", "eth9"):
        run(node.nodes["w1"], "ip", "link", "set", device, "up")
    run(node.nodes["w1"], sys.executable, "-c", _SENDS)
    assert 50_000 <= sent_bytes(node.nodes["w1"]) - before < 60_000


_SENDS = """\
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    for address in ["127.0.0.1"] * 100 + ["198.18.77.255"] * 50:
        one.sendto(bytes(1000), (address, 9))
"""


def test_a_daemon_that_is_not_there_is_named() -> None:
    with (
        pytest.raises(LookupError, match="nothing is called w3/datanode"),
        INJECTIONS["stop"](NOWHERE, daemons="w3/datanode"),
    ):
        pass


@pytest.fixture
def node() -> Any:
    """A process with a network of its own, like a container's, and cgroups of its own."""
    if obstacle := needs():
        pytest.skip(obstacle)
    name = f"causes-{os.getpid()}"
    folders = [io_limits.ROOT / kind / name for kind in ("cpu", "memory", "blkio")]
    script = "ip link add eth7 type ifb && ip link set eth7 up && exec sleep 60"
    for folder in folders:
        folder.mkdir()
    with subprocess.Popen(["unshare", "--net", "--", "sh", "-c", script]) as process:
        wait_for(lambda: psutil.Process(process.pid).name() == "sleep")
        yield Target({}, {"w1": process.pid}, {"w1": name}, "/var/tmp", {"w1": 250e6})
        process.kill()
    for folder in folders:
        folder.rmdir()


def run(pid: int, *words: str) -> str:
    argv = ["nsenter", "--target", str(pid), "--net", "--", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def state(target: Target) -> tuple[str, ...]:
    """All that injections change of a node."""
    folder = io_limits.ROOT
    files = ("cpu/{}/cpu.cfs_quota_us", "memory/{}/memory.limit_in_bytes",
             "memory/{}/memory.oom_control", "blkio/{}/blkio.throttle.write_iops_device")  # fmt: skip
    read = [(folder / file.format(target.groups["w1"])).read_text() for file in files]
    pid = target.nodes["w1"]
    return (*read, run(pid, "tc", "qdisc", "show"), run(pid, "nft", "list", "ruleset"))


@pytest.mark.parametrize(
    ("kind", "arguments", "part"),
    (
        ("quota", {"cores": 0.5}, "50000"),
        ("squeeze", {"free_mib": 8}, str(8 * 2**20)),
        ("slow_disk", {"write_iops": 7}, " 7"),
        ("rate", {"kbit_s": 800}, "rate 800Kbit"),
        ("rate", {"share": 0.25}, "rate 500Mbit"),
        ("loss", {"percent": 25}, "numgen random mod 100 < 25 drop"),
    ),
)
def test_a_node_is_changed_and_put_back(
    node: Target, kind: str, arguments: dict[str, Any], part: str
) -> None:
    before = state(node)
    with INJECTIONS[kind](node, nodes="w*", **arguments):
        changed = [now for old, now in zip(before, state(node), strict=True) if now != old]
        assert sum(part in now for now in changed) == 1
    assert state(node) == before


_HOLDS = """\
import os, sys
open(sys.argv[2], "w").write(str(os.getpid()))
held = bytearray(64 * 2**20)
with open(sys.argv[1], "wb") as file:  # its writer has it in the page cache
    file.write(bytes(96 * 2**20))
    os.fsync(file.fileno())
while True:
    with open(sys.argv[1], "rb", buffering=0) as file:
        while file.read(2**20):
            held[::4096] = bytes(len(held) // 4096)
"""


def test_a_squeezed_program_keeps_what_it_holds_and_lives(node: Target) -> None:
    group = io_limits.ROOT / "memory" / node.groups["w1"]
    file = Path("/var/tmp") / f"{node.groups['w1']}.cached"
    command = [sys.executable, "-c", _HOLDS, file, group / "cgroup.procs"]
    with subprocess.Popen(command) as process:
        try:
            used = group / "memory.usage_in_bytes"
            wait_for(lambda: int(used.read_text()) > 140 * MIB)
            with INJECTIONS["squeeze"](node, nodes="w*", free_mib=8):
                limit = group / "memory.limit_in_bytes"
                wait_for(lambda: int(limit.read_text()) < 90 * MIB)
                time.sleep(1.0)
                assert int(limit.read_text()) >= 64 * MIB + 8 * MIB
            assert process.poll() is None
        finally:
            process.kill()
            process.wait()
            file.unlink(missing_ok=True)


def test_a_plan_has_one_build_and_every_trial_once_in_random_order() -> None:
    kinds = [*KNOWN, *[QUIET] * 5]
    made = planned(plan(), kinds)
    assert Plan.model_validate(made.model_dump()) == made
    assert [made.steps[0].kind, made.steps[-1].kind] == ["up", "down"]
    found = [kind_of(str(step.trial)) for step in made.trials]
    assert found[0] == QUIET and sorted(found) == sorted(kinds) and found != kinds
    assert len({(step.build, step.test_case) for step in made.trials}) == 1
    assert planned(plan(), kinds) == made


@pytest.mark.parametrize(("part", "trials"), ((0, 7), (10, 7), (30, 15), (40, 20)))
def test_quiet_trials_are_divided_by_the_disturbed_ones(part: int, trials: int) -> None:
    assert quiet_trials(20, part, 40) == trials


def result(*trials: tuple[str, tuple[str, ...] | None]) -> Score:
    return score([Trial(f"b1--{kind}", kind, causes) for kind, causes in trials], KNOWN)


def test_the_first_name_and_three_names_count() -> None:
    found = result(
        ("gc-pause", ("gc-pause", "flush")),
        ("gc-pause", ("safepoint", "flush", "gc-pause")),
        ("gc-pause", ("flush", "io-wait", "steal", "gc-pause")),
        ("gc-pause", ()),
        (QUIET, ()),
    )
    (line,) = found.lines
    assert (line.trials, line.first, line.among, line.friends) == (4, 1, 2, 1)
    assert line.named == ("gc-pause", "safepoint", "flush", "nothing")
    assert (found.first, found.among, found.holds) == (0.25, 0.5, False)


def test_every_name_of_a_quiet_trial_is_false() -> None:
    right = [("gc-pause", ("gc-pause",))]
    quiet: list[tuple[str, tuple[str, ...]]] = [(QUIET, ())] * 19
    assert result(*right, *quiet, (QUIET, ("steal",))).holds
    assert not result(*right, *quiet, (QUIET, ("steal", "flush"))).holds


def test_a_trial_that_did_not_complete_is_no_success_and_no_miss() -> None:
    found = result(("gc-pause", ("gc-pause",)), ("compaction", None), (QUIET, ()))
    assert (found.first, found.incomplete, found.holds) == (1.0, ("b1--compaction",), False)


def _course(busy_percent: float, worst_ms: float = 20.0) -> Course:
    seconds = 30
    busy = {Place("other_programs", "h1"): np.full(seconds, busy_percent)}
    return Course(
        0, np.full(seconds, 300.0), np.full(seconds, worst_ms), series=Series.of(busy, seconds)
    )


def test_a_disturbed_trial_is_explained_among_the_quiet_ones() -> None:
    quiet = {f"b1--00{n}-quiet": _course(2.0) for n in range(5)}
    names = {name: f"b1--{name}" for name in ("01-cpu-neighbour-lasting", "02-scans", "03-flushes")}
    # As many are busy as are not: among all of them, it would be usual.
    loud = {f"b1--1{n}-cpu-neighbour-lasting": _course(30.0, 90.0) for n in range(6)}
    known = {**quiet, **loud, **{names[name]: _course(2.0) for name in ("02-scans", "03-flushes")}}
    complete = {*known} - {"b1--000-quiet"}
    found = {one.name: one for one in trials_of(known, complete, {*loud, names["02-scans"]})}
    assert found["b1--000-quiet"] == Trial("b1--000-quiet", QUIET, None)
    assert found["b1--001-quiet"] == Trial("b1--001-quiet", QUIET, (), False)
    for name in loud:
        assert found[name] == Trial(name, "cpu-neighbour-lasting", ("other-programs",), True)
    assert found[names["02-scans"]] == Trial(names["02-scans"], "scans", (), False)
    assert found[names["03-flushes"]].causes is None  # its injection failed


def test_what_slowed_nothing_and_got_no_name_is_counted_apart() -> None:
    found = score(
        [
            Trial("b1--gc-pause", "gc-pause", ("gc-pause",), False),
            Trial("b1--scans", "scans", (), False),
            Trial("b1--flushes", "flushes", (), True),
            Trial("b1--quiet", QUIET, (), False),
        ],
        KNOWN,
    )
    assert [line.kind for line in found.lines] == ["gc-pause", "flushes"]
    assert (found.without_effect, found.quiet, found.first) == (("scans",), 1, 0.5)
    assert "| trials that were not slow, and got no name | - | 1 (scans 1) |" in page.section(
        found, KNOWN
    )


def test_the_section_takes_the_place_of_the_old_one() -> None:
    text = page.section(result(("gc-pause", ("gc-pause",)), (QUIET, ())), KNOWN)
    assert "| gc-pause | a RegionServer stands still for full collections | 1 of 1 |" in text
    for old in ("# A\n\n## B\n", f"# A\n\n{page.HEADING}\nold\n\n## B\n"):
        new = page.with_section(old, text)
        assert new.count(page.HEADING) == 1 and "old" not in new and "## B" in new
        assert page.with_section(new, text) == new
