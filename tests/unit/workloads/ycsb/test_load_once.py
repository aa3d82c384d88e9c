"""`load_once`: the first build loads a table and copies it, later builds put the copy back and prove it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.lifecycle.tear_down import leftovers_of, tear_down
from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.host import Disk, Target
from density_study.cluster.model.topology import Node
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.ssh.channel import close_channels
from density_study.cluster.state.events import (
    COPIES,
    Event,
    NodeReach,
    RunOpened,
    TableCopied,
    TableNotCopied,
    TablePutBack,
    TableState,
)
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.dags.run_status.progress import progress
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.resolve import assumed_hosts
from density_study.workloads.planning.stated import stated
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.copies import table_copy
from density_study.workloads.ycsb.copies.not_copied import uncopied_words
from density_study.workloads.ycsb.copies.table_copy import (
    FILES,
    difference,
    keep_or_prove,
    put_back,
)
from density_study.workloads.ycsb.properties import FAMILY
from tests.support.made_runs.fake_ycsb import case

LOADED = TableState(rows=60_000, regions=10, servers=1, most_files=1, mib=800, locality=1.0)
CASE = case("c", records=100_000, until_steady=True, warm_up_daemons_s=0.0, load_once=True)
OTHER = CASE.model_copy(update={"records": 200_000})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"regions": 40, "servers": 4, "mib": 770}, ""),  # other variants have other servers
        ({"regions": 20}, "20 instead of 10 regions on 1 instead of 1 servers"),
        ({"regions": 20, "servers": None}, ""),  # earlier versions did not record them
        ({"rows": 59_999}, "59,999 rows instead of 60,000"),
        ({"most_files": 2}, "2 store files instead of 1"),
        ({"mib": 700}, "700 MiB of store files instead of 800"),
        ({"locality": 0.7}, "70% of its blocks are local instead of 100%"),
    ],
)
def test_what_differs_is_named(change: dict[str, Any], said: str) -> None:
    found = difference(LOADED, LOADED.model_copy(update=change))
    assert said in found and bool(said) == bool(found)


class Bench:
    """Builds of one run on this machine, whose commands are recorded and not run. With provider `physical`,
    the agent of a host makes and removes folders."""

    def __init__(self, folder: Path, provider: str = "local") -> None:
        self.provider = provider_named(provider)
        self.root = folder
        self.journal = Journal(folder / "journal.jsonl")
        self.commands: list[str] = []
        self.free_mib, self.fails = 10**6, ""

    def build(self, name: str, table_format: str = "2.6.4") -> Any:
        site = Site(self.root / "builds" / name, f"s/20261126T000000Z/{name}")
        disk = Disk(str(self.root / "disk"), "flash")
        client = Node("client", "here", "127.0.0.1", ("client",), 1, 1, disk)
        target = Target("here", "192.0.2.11", 22, "study", "/runs/s/known_hosts")
        self.journal.record(NodeReach(tag=site.tag, node="client", target=target))
        host = SimpleNamespace(name="here", cores=2, target=target)
        worker = SimpleNamespace(host="here", regionservers=1, disks=(disk,))
        topology = SimpleNamespace(
            client=client, nodes=(client,), workers=(worker,), hosts=(host,),
            replication=1, provider=self.provider, existing=None, table_format=table_format,
        )  # fmt: skip
        cluster = SimpleNamespace(site=site, topology=topology, built=topology)
        transport = SimpleNamespace(act=lambda *_: self.free_mib)
        return SimpleNamespace(cluster=cluster, journal=self.journal, transport=transport)

    def folders(self) -> list[str]:
        return sorted(map(str, (self.root / "disk").glob(f"density-study/s/*/{COPIES}/*")))

    def run(self, _: Any, command: str, __: float) -> None:
        if self.fails and self.fails in command:
            raise StudyError("no space left.", "", "")
        self.commands.append(command.partition(" ")[0])


@pytest.fixture
def bench(
    runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Bench]:
    made = Bench(tmp_path, getattr(request, "param", "local"))
    program = tmp_path / "bin" / "ssh"  # runs its command on this machine
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor last; do :; done; exec sh -c "exec $last"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(table_copy, "_shell", lambda _, name, *words: f"{name} {words}")
    monkeypatch.setattr(table_copy, "_bulk_load", lambda *_: "table-bulk-load")
    monkeypatch.setattr(table_copy, "_run", made.run)
    yield made
    close_channels()


BOTH = pytest.mark.parametrize("bench", ["local", "physical"], indirect=True)


def facts(rows: int = 100_000) -> list[dict[str, Any]]:
    regions = [{"store_file_mib": 6, "store_files": 1, "locality": 1.0}] * 10
    return [{}, {"rows": rows}, {"regions": regions, "servers": ["s1"], "store_file_mib": 60}]


@BOTH
def test_the_first_build_copies_and_later_ones_put_back(bench: Bench) -> None:
    first, later = bench.build("b1-v1-flash"), bench.build("b2-v1-flash")
    assert not put_back(first, CASE)
    keep_or_prove(first, CASE, facts())
    assert bench.commands == ["table-copy"]
    assert put_back(later, CASE)
    keep_or_prove(later, CASE, facts())
    assert bench.commands == ["table-copy", "table-put-back", "table-bulk-load"]
    (put,) = bench.journal.events(TablePutBack)
    assert put.tag == "s/20261126T000000Z/b2-v1-flash"
    with pytest.raises(StudyError, match="99,999 rows instead of 100,000"):
        keep_or_prove(later, CASE, facts(99_999))


def test_another_format_is_loaded_anew(bench: Bench) -> None:
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    assert not put_back(bench.build("b1-y", "2.5.13"), CASE)


def test_a_client_on_another_host_does_not_see_the_copy(bench: Bench) -> None:
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    moved = bench.build("b1-y")
    moved.cluster.topology.client = replace(moved.cluster.topology.client, host="there")
    assert not put_back(moved, CASE)


@BOTH
def test_tear_down_of_the_copies_removes_them_and_they_are_not_used_again(bench: Bench) -> None:
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    (copied,) = bench.journal.events(TableCopied)
    site = Site(bench.root / "builds" / COPIES, f"s/20261126T000000Z/{COPIES}")
    assert (Path(copied.path) / FILES / FAMILY).is_dir()
    assert copied.path in " ".join(leftovers_of(site, bench.journal))
    tear_down(site, bench.journal)
    assert not (bench.root / "disk" / "density-study").exists()
    assert not put_back(bench.build("b2-x"), CASE)


def test_without_room_for_a_copy_the_next_build_loads_and_tries_again(bench: Bench) -> None:
    bench.free_mib = 119
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    (said,) = [one for one in bench.journal.read() if one["event"] == "table-not-copied"]
    assert "119 MiB are free" in said["why"]
    bench.free_mib = 10**6
    later = bench.build("b2-x")
    assert not put_back(later, CASE)
    keep_or_prove(later, CASE, facts())
    assert len(bench.journal.events(TableCopied)) == 1


@BOTH
def test_a_copy_that_failed_leaves_no_folder_and_is_not_tried_again(bench: Bench) -> None:
    keep_or_prove(bench.build("b1-x"), OTHER, facts(200_000))
    bench.fails = "table-copy"
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    (said,) = bench.journal.events(TableNotCopied)
    assert "no space left" in said.why
    (kept,) = bench.journal.events(TableCopied)  # of another table
    assert bench.folders() == [kept.path]
    bench.fails = ""
    later = bench.build("b2-x")
    assert not put_back(later, CASE)
    keep_or_prove(later, CASE, facts())
    assert bench.commands == ["table-copy"] and bench.folders() == [kept.path]
    site = Site(bench.root / "builds" / COPIES, f"s/20261126T000000Z/{COPIES}")
    tear_down(site, bench.journal)
    keep_or_prove(bench.build("b3-x"), CASE, facts())  # of a run that was resumed
    assert len(bench.journal.events(TableCopied)) == 2


def test_a_disk_that_takes_no_folder_costs_the_trial_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.mkdir

    def full(path: Path, *how: Any, **more: Any) -> None:
        if FAMILY in path.parts:
            raise OSError(28, "No space left on device")
        real(path, *how, **more)

    monkeypatch.setattr(Path, "mkdir", full)
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    (said,) = bench.journal.events(TableNotCopied)
    assert "No space left on device" in said.why and bench.folders() == []


def test_a_disk_that_fails_again_when_the_folder_is_removed_costs_the_trial_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    bench.fails = "table-copy"
    monkeypatch.setattr(directories, "_remove", broken)
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    (said,) = bench.journal.events(TableNotCopied)
    assert "no space left" in said.why and len(bench.folders()) == 1


def test_a_table_without_a_copy_is_told_until_there_is_one(bench: Bench) -> None:
    bench.free_mib = 119
    keep_or_prove(bench.build("b1-x"), CASE, facts())
    (told,) = uncopied_words(bench.journal.events(Event))
    assert told.startswith(
        "load_once: the table usertable_100000 is loaded in each build until there"
    )
    assert "119 MiB are free" in told
    bench.free_mib = 10**6
    keep_or_prove(bench.build("b2-x"), CASE, facts())
    assert not [*uncopied_words(bench.journal.events(Event))]


def test_a_small_table_is_loaded_in_each_build(bench: Bench) -> None:
    small = CASE.model_copy(update={"records": 10_000})
    build = bench.build("b1-x")
    assert not small.is_copied_on(build.cluster.topology)  # three JVMs take longer than its load
    assert not put_back(build, small)


STUDY = """
study: s
provider: PROVIDER
ssh: {user: study}
hosts: [{name: here, address: 192.0.2.1, cores: 4, memory: 24 GiB, roles: [master, worker, client],
         disks: [{path: /data, disk_type: flash}]}]
factors: {vms_per_host: [DENSITY]}
workloads: [{ycsb: {records: [3000000], mixes: [c], threads: [8], duration: 2 min, WARM load_once: ONCE}}]
repetitions: 3
"""


def planned(once: str, provider: str = "local", warm: str = "") -> Plan:
    text = STUDY.replace("ONCE", once).replace("WARM", warm)
    text = text.replace("PROVIDER", provider).replace(
        "DENSITY", "0" if provider == "physical" else "1"
    )
    if provider == "container":
        text = text.replace("user: study", "user: root")
    if provider == "local":
        text = text.replace("ssh: {user: study}\n", "").replace("192.0.2.1", "127.0.0.1")
    study = parse_study(text, "s.yaml").study
    return make_plan(study, assumed_hosts(study))


def test_the_plan_counts_one_load() -> None:
    each = [step.estimate_s for step in planned("true").trials]
    loaded = [step.estimate_s for step in planned("false").trials]
    assert each[0] == loaded[0] and each[1] == each[2]
    # 500 s by the client against 4 GiB at 100 MiB/s
    assert 400 < loaded[1] - each[1] < 480


def test_what_is_left_counts_loads_where_there_is_no_copy() -> None:
    plan, loads = planned("true"), planned("false").trials
    steps = plan.trials
    assert steps[0].test_case is not None
    name = steps[0].test_case.copied_on(plan.topology_of(steps[0].build))
    assert name and name.startswith("usertable_3000000-")
    lost = TableNotCopied(tag="t", name=name, why="no space left", tried=True)
    assert [*stated(plan, {name}).values()] == [step.estimate_s for step in loads]
    opened = RunOpened(study="s", run="r", tag="t", owner=Owner.of_process(os.getpid()), t=0.0)
    left = progress(plan, [opened], 0.0).remaining_s
    more = progress(plan, [opened, lost], 0.0).remaining_s - left
    assert more == pytest.approx(2 * (loads[1].estimate_s - steps[1].estimate_s))


def test_hosts_over_ssh_have_it() -> None:
    each = [step.estimate_s for step in planned("true", "physical").trials]
    loaded = [step.estimate_s for step in planned("false", "physical").trials]
    assert each[0] == loaded[0] and each[1] == each[2] < loaded[1]


@pytest.mark.parametrize(
    ("provider", "warm", "said"),
    [
        ("container", "", "folders of provider container.* do not outlive a build"),
        ("local", "warm_up_daemons: 20 s,", "servers that loaded a table are warmer"),
    ],
)
def test_it_is_refused_where_it_cannot_be_or_would_bias(
    provider: str, warm: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        planned("true", provider, warm)
