"""A study file is read completely, or refused with file, line, key and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.study.study_file import parse_study, read_study

QUICKSTART = Path("tests/support/quickstart.yaml")
TEXT = QUICKSTART.read_text()


def test_every_shipped_study_is_valid() -> None:
    for path in sorted(Path("workloads/studies").glob("*.yaml")):
        assert read_study(path).study.study == path.stem


def test_quantities_have_the_units_in_their_names() -> None:
    study = read_study(QUICKSTART).study
    assert study.hosts[0].memory == 6144
    dfsio, ycsb = study.workloads[0].testdfsio, study.workloads[1].ycsb
    assert dfsio is not None and ycsb is not None
    assert (dfsio.file_size, dfsio.read_size) == (256, 1024 * 1024)
    assert (ycsb.duration, ycsb.warm_up) == (17.0, 3.0)


FAULTS = [
    ("seed:", "sed:", "q.yaml:29, key sed", "unknown key 'sed'"),
    ("repetitions: 1", "repetitions: two", "q.yaml:28, key repetitions", "write a whole number, not 'two'"),
    ("repetitions: 1", "repetitions: 1\nrepetitions: 2", "q.yaml:29", "duplicate key 'repetitions'"),
    ("6 GiB", "6", "q.yaml:11, key hosts[0].memory", "no unit"),
    ("6 GiB", "6 min", "q.yaml:11, key hosts[0].memory", "not a quantity in MiB"),
    ("6 GiB", "-6 GiB", "q.yaml:11, key hosts[0].memory", "must be positive"),
    ("17 s", "17 MiB", "key workloads[1].ycsb.duration", "not a quantity in s"),
    ("warm_up: 3 s", "warm_up: 30 s", "key workloads[1].ycsb.warm_up", "leaves nothing of the duration"),
    ("[1, 2]", "[1, 1]", "q.yaml:15, key factors.vms_per_host", "duplicate vms_per_host: 1"),
    ("[1, 2]", "[0, 2]", "q.yaml:15, key factors.vms_per_host", "bare host"),
    ("replication: 1", "replication: 2", "q.yaml:16, key stack.replication", "smallest variant"),
    ("period: 1 s", "period: 500 ms", "key monitor.period", "whole seconds"),
    ("period: 1 s", "period: 1 s, also: [disc]", "key monitor.also[0]", "'disks'"),
    ("period: 1 s", "period: 1 s, also: [disks, disks]", "key monitor.also", "duplicate device"),
    ("threads: [8]", "threads: [0]", "threads[0]", "it must be 1 or more, not 0"),
    ("disk_type: auto", "disk_type: ssd", "hosts[0].disks[0].disk_type", "'flash' or 'hdd'"),
    ("study: quickstart", "study: ../x", "q.yaml:4, key study", "lower-case letters"),
    ("provider: local", "provider: [", "q.yaml:8", "not valid YAML"),
    ("roles: [master, worker, client]", "roles: [master, worker]", "q.yaml:12, key hosts[0].roles",
     "'client'"),
    ("  - testdfsio:", "  - testdfsio: {modes: [read], files: 6, file_size: 1 MiB}\n  - testdfsio:",
     "q.yaml:17, key workloads", "duplicate test case: 'testdfsio-read-n6'; file_size is not part"),
    ("records: [100000]", "records: []", "key workloads[1].ycsb.records", "give 1 or more values, not []"),
    ("records: [100000]", "records: 1", "key workloads[1].ycsb.records", "write a list, like [1, 2], not 1"),
    ("repetitions: 1", "repetitions: true", "key repetitions", "write a whole number, not True"),
    ("study: quickstart", "study: Q_", "key study", "'Q_' is not a name: up to 48 lower-case letters"),
    ("stack: {", "stack: 3 #", "key stack", "write a mapping of keys, not 3"),
    ("question: Do", "question: [] # Do", "key question", "write text, not []"),
    ("records: [100000]", "records: [100000000000000000000]", "key workloads[1].ycsb.records[0]", "YCSB"),
    ("threads: [8]", "threads: [1_000_000]", "key workloads[1].ycsb.threads[0]", "one client's JVM"),
    ("files: 6", "files: 2_000_000_000", "key workloads[0].testdfsio.files", "map task"),
    ("256 MiB", "32 EiB", "key workloads[0].testdfsio.file_size", "a file to 10,000 blocks"),
    ("period: 1 s", "period: 1 h", "key monitor.period", "end before its second sample"),
    ("period: 1 s", "period: 20 s", "key monitor.period", "longer than a trial of ycsb-read45"),
    ("duration: 17 s", "duration: 17 years", "key workloads[1].ycsb.duration", "maximum of 30 days"),
    ("17 s", "9**9**9 s", "key workloads[1].ycsb.duration", "not a quantity in s"),
    ("6 GiB", "1 EiB", "key hosts[0].memory", "no host has more than"),
    ("threads: [8]", f"threads: {list(range(1, 1200))}", "key workloads[1].ycsb.threads",
     "the lists expand to 3597 test cases"),
    ("vms_per_host: [1, 2]",
     f"vms_per_host: {list(range(1, 30))}\n  regionservers_per_node: {list(range(1, 30))}", "key factors",
     "841 topologies"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "where", "message"), FAULTS)
def test_a_fault_is_one_error_with_place_and_remedy(
    old: str, new: str, where: str, message: str
) -> None:
    assert old in TEXT
    with pytest.raises(InputError) as caught:
        parse_study(TEXT.replace(old, new, 1), "q.yaml")
    assert caught.value.where.endswith(where)
    assert message in caught.value.what
    assert caught.value.remedy
    assert caught.value.exit_code == 2


EXPECT = "expect:\n  - {name: h, workload: load, compare: vms_per_host, 2_over_1: '> 1.5'}\n"
LINE = len(TEXT.splitlines()) + 1


def test_slos_schedule_and_hypotheses_are_read() -> None:
    goals = "slo: {read_p99: 20 ms, scan_p99.9: 1 s}\nschedule: '0 2 * * 6'\n"
    compared = "compare: {baseline: rolling 5, tolerance: 5%}\n"
    study = parse_study(TEXT + EXPECT + goals + compared, "q.yaml").study
    assert study.slo == {"read_p99": 20.0, "scan_p99.9": 1000.0}
    (hypothesis,) = study.expect
    assert (hypothesis.later, hypothesis.first, hypothesis.low, hypothesis.high) == (
        "2",
        "1",
        1.5,
        None,
    )
    assert study.compare is not None and study.compare.baseline.rolling == 5
    assert study.compare.tolerance == pytest.approx(0.05)
    assert study.schedule is not None and study.schedule.cron == "0 2 * * 6"
    on_asset = parse_study(TEXT + "schedule: {asset: 's3://x/y'}\n", "q.yaml").study.schedule
    assert on_asset is not None and on_asset.asset == "s3://x/y"


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        ("slo: {read_p42: 20 ms}", "slo.read_p42", "not a latency"),
        ("slo: {read_p99: 20}", "slo.read_p99", "no unit"),
        ("slo: {read_p99: 0 ms}", "slo.read_p99", "must be positive"),
        (EXPECT.replace("> 1.5", "about 2"), "expect[0]", "not an expected ratio"),
        (EXPECT.replace("> 1.5", "> 0"), "expect[0]", "a ratio is positive"),
        (EXPECT.replace("2_over_1", "2_under_1"), "expect[0]", "<later>_over_<first>"),
        (EXPECT.replace("2_over_1", "2_over_2"), "expect[0]", "with itself"),
        (EXPECT.replace("2_over_1", "3_over_1"), "expect", "has no '3', only 1, 2"),
        (EXPECT.replace(": load", ": c"), "expect", "no workload 'c'"),
        (EXPECT.replace("name: h", "name: h, metric: speed"), "expect[0].metric", "not a latency"),
        (EXPECT.replace("name: h", "name: h, way: x"), "expect[0].way", "unknown key 'way'"),
        (EXPECT + EXPECT.removeprefix("expect:\n"), "expect", "duplicate name: 'h'"),
        ("compare: {baseline: last, tolerance: 5%}", "compare.baseline", "not a baseline"),
        ("compare: {baseline: rolling 0}", "compare.baseline", "not a baseline"),
        ("compare: {baseline: rolling 5, tolerance: 5}", "compare.tolerance", "no unit"),
        ("compare: {baseline: rolling 5, tolerance: 95%}", "compare.tolerance", "at most 90%"),
        ("compare: {tolerance: 5%}", "compare.baseline", "is missing"),
        ("schedule: at noon", "schedule.cron", "not a cron expression"),
        ("schedule: '0 2 * * * *'", "schedule.cron", "not a cron expression"),
        ("schedule: {asset: x}", "schedule.asset", "the URI of an asset"),
        ("schedule: {}", "schedule", "cron expression, or"),
    ],
)
def test_a_fault_in_a_hypothesis_or_slo_has_a_place_too(text: str, key: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_study(TEXT + text.rstrip() + "\n", "q.yaml")
    place, _, reported_key = caught.value.where.partition(", key ")
    assert reported_key == key
    assert int(place.removeprefix("q.yaml:")) >= LINE
    assert message in caught.value.what


def test_two_hosts_with_one_name_are_refused() -> None:
    text = TEXT.replace("hosts:\n", "hosts:\n  - {name: here, memory: 1 GiB}\n")
    with pytest.raises(InputError, match="duplicate host name: 'here'"):
        parse_study(text, "q.yaml")


def test_overrides_replace_values_of_the_file_and_are_stored_with_the_run() -> None:
    file = parse_study(TEXT, "q.yaml", {"repetitions": 3, "stack.base_port": 22000})
    assert (file.study.repetitions.at_most, file.study.stack.base_port) == (3, 22000)
    assert parse_study(file.text, "kept.yaml").study == file.study


def test_an_unknown_override_is_refused_like_an_unknown_key() -> None:
    with pytest.raises(InputError, match="unknown key 'blocs'"):
        parse_study(TEXT, "q.yaml", {"blocs": 3})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_study(tmp_path / "none.yaml")
    assert str(tmp_path / "none.yaml") in caught.value.where
