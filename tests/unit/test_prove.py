"""`make prove`: its groups cover everything once, and its ledger holds what was seen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import deselected
from tests.prove import ledger, running
from tests.prove.groups import MARKED, ROOT, Group, groups
from tests.prove.ledger import Entry
from tests.prove.page import PAGE, page

GROUPS = groups()


@pytest.mark.thorough  # collecting takes half a minute, unless this process has collected all tests
def test_every_slow_live_and_vm_test_is_in_one_group(request: pytest.FixtureRequest) -> None:
    names = set(MARKED.split(" or "))
    if [Path(name).resolve() for name in request.config.args] == [ROOT / "tests"]:
        items = [*request.session.items, *deselected]
        tests = [one.nodeid for one in items if names & {mark.name for mark in one.iter_markers()}]
        tests += [
            f"{path}::" for path in request.config.option.ignore or ()
        ]  # the Makefile's ALONE
    else:
        argv = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", MARKED, "tests"]
        text = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        tests = [line for line in text.splitlines() if "::" in line]
    assert len(tests) > 500
    holders = {test: [g.name for g in GROUPS.values() if g.holds(test)] for test in tests}
    assert {test: names for test, names in holders.items() if len(names) != 1} == {}
    assert {name for names in holders.values() for name in names} == {
        group.name for group in GROUPS.values() if group.tests
    }


@pytest.mark.thorough  # so does importing all benches
def test_every_bench_and_known_answer_is_in_one_group() -> None:
    from tests.bench.__main__ import BENCHES
    from tests.known_answers.__main__ import KNOWN

    assert sorted(name for group in GROUPS.values() for name in group.bench) == sorted(BENCHES)
    assert sorted(name for group in GROUPS.values() for name in group.answers) == sorted(KNOWN)


def test_a_group_is_of_one_kind() -> None:
    kinds = [[group.tests, group.bench, group.answers] for group in GROUPS.values()]
    assert [kind for kind in kinds if sum(map(bool, kind)) != 1] == []


def test_the_page_shows_the_ledger() -> None:
    """`python -m tests.prove page` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page(GROUPS, ledger.read())


def test_a_name_that_begins_like_a_command_is_not_shown_as_one() -> None:
    """Commands on pages are run as shown (tests/spark/test_documented_commands.py)."""
    failed = entry("bench-capacity", failed=1, failures=("study capacity size: 20 host types",))
    assert 'failed: "study capacity size: 20 host types"' in page(GROUPS, [failed])


def entry(group: str = "stores", date: str = "2026-11-01", **fields: object) -> Entry:
    facts = {"commit": "abc", "machine": "m", "load": 0.1, "seconds": 60, "passed": 3, "failed": 0}
    return Entry.model_validate({"group": group, "date": date, **facts, **fields})


@pytest.mark.parametrize(
    ("fields", "outcome"),
    (
        ({}, "passed"),
        ({"skipped": {"no KVM": 1}}, "passed"),
        ({"passed": 0, "skipped": {"needs root": 2}}, "not here"),
        ({"passed": 0}, "failed"),  # no test was found
        ({"failed": 1}, "failed"),
        ({"passed": None, "failed": None, "ended": "stopped after 20 min"}, "failed"),
        ({"ended": "exit code 2"}, "failed"),
        ({"left": ("java",)}, "failed"),
    ),
)
def test_only_a_complete_clean_run_passes(fields: dict[str, object], outcome: str) -> None:
    assert entry(**fields).outcome == outcome


def test_what_failed_before_a_change_comes_first_and_then_what_is_oldest(tmp_path: Path) -> None:
    names = ("old", "never", "failed", "failed again", "new")
    known = [Group(name=name, about="", minutes=1) for name in names]
    path = tmp_path / "ledger.jsonl"
    for line in (
        entry("old", "2026-11-02"),
        entry("failed", "2026-11-04", failed=1, commit="before"),
        entry("new", "2026-11-01"),
        entry("new", "2026-11-05"),
        entry("failed again", "2026-11-03", failed=1),
    ):
        ledger.append(line, path)
    order = ledger.stalest(known, ledger.latest(ledger.read(path)), "abc")
    assert [group.name for group in order] == ["failed", "never", "old", "failed again", "new"]


PROVER = """
import sys
from tests.prove import running
from tests.prove.groups import Group

class Script(Group):
    def command(self, folder):
        return [sys.executable, "-c", f"folder = {str(folder)!r}\\n{self.about}"]

running.ENDING_S = 3.0
running.adopt_orphans()
seen = running.run(Script(name="made", about=sys.argv[1], minutes=1), float(sys.argv[2]))
print(seen.model_dump_json())
"""
LEAVES_A_DAEMON = """
import pathlib, subprocess
daemon = subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path(folder).parent.joinpath("pid").write_text(str(daemon.pid))
open(folder + "/result.json", "w").write('[["fast", true], ["slim", false]]')
"""
LEAVES_WHAT_IS_ENDING = """
import subprocess
subprocess.Popen(["sleep", "1"], start_new_session=True)
open(folder + "/result.json", "w").write('[["fast", true]]')
"""
WAITS_FOR_THE_END_OF_AN_ORPHAN = """
import json, pathlib, subprocess, time
pid = subprocess.check_output(["sh", "-c", "sleep 0.5 >/dev/null & echo $!"], text=True).strip()
until = time.monotonic() + 10
while (lives := pathlib.Path("/proc", pid).exists()) and time.monotonic() < until:
    time.sleep(0.05)
pathlib.Path(folder, "result.json").write_text(json.dumps([["it is gone", not lives]]))
"""
HANGS_AND_CLEANS_UP = """
import pathlib, subprocess, time
daemon = subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path(folder).parent.joinpath("pid").write_text(str(daemon.pid))
try:
    time.sleep(60)
finally:
    daemon.kill()
    daemon.wait()
"""


def proved(folder: Path, script: str, limit_s: float) -> Entry:
    """Runs it in a process of its own: the descendants of this one are not to be ended."""
    argv = [sys.executable, "-c", PROVER, script, str(limit_s)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    text = subprocess.run(
        argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    ).stdout
    return Entry.model_validate_json(text.splitlines()[-1])


def test_a_daemon_that_a_group_leaves_is_ended_and_named(tmp_path: Path) -> None:
    seen = proved(tmp_path, LEAVES_A_DAEMON, 60)
    assert (seen.ended, seen.left) == ("complete", ("sleep",))
    assert (seen.passed, seen.failed, seen.failures) == (1, 1, ("slim",))
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_a_process_that_is_ending_was_not_left(tmp_path: Path) -> None:
    """As Spark's JVM is, some seconds after its client."""
    seen = proved(tmp_path, LEAVES_WHAT_IS_ENDING, 60)
    assert (seen.ended, seen.passed, seen.left) == ("complete", 1, ())


def test_an_orphan_that_ends_is_gone_at_once_as_init_would_have_it(tmp_path: Path) -> None:
    seen = proved(tmp_path, WAITS_FOR_THE_END_OF_AN_ORPHAN, 60)
    assert (seen.passed, seen.failures, seen.left) == (1, (), ())


def test_a_group_that_takes_too_long_cleans_up_and_has_no_numbers(tmp_path: Path) -> None:
    seen = proved(tmp_path, HANGS_AND_CLEANS_UP, 6)
    assert (seen.ended, seen.left) == ("stopped after 0.1 min", ())
    assert (seen.passed, seen.failed, seen.outcome) == (None, None, "failed")
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_counts_and_reasons_are_those_of_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_made.py").write_text(
        "import pytest\n"
        "def test_a(): pass\n"
        "def test_b(): assert False\n"
        "def test_c(): pytest.skip('needs root')\n"
        "@pytest.fixture\ndef broken(): raise OSError\n"
        "def test_d(broken): pass\n"
        "def test_e(): raise KeyboardInterrupt\n"  # as of a group that took too long
    )
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        f"--junitxml={tmp_path}/result.xml",
        str(tmp_path),
    ]
    subprocess.run(argv, capture_output=True, check=False)
    seen = running.counted(tmp_path)
    assert (seen["passed"], seen["failed"], seen["skipped"]) == (1, 2, {"needs root": 1})
    assert [name.partition("::")[2] for name in seen["failures"]] == ["test_b", "test_d"]
