"""Any YAML file is either read or refused as bad input with file and line, in bounded time."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.catalogue import read_catalogue
from density_study.analysis.capacity.inputs.profile import read_profile
from density_study.cluster.model.errors import FaultsError, InputError
from density_study.dags.cli.arguments import parse_overrides
from density_study.workloads.study.hypotheses import read_hypotheses
from density_study.workloads.study.study_file import parse_study, read_study

TEXT = Path("tests/support/quickstart.yaml").read_text()
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
BAD = {
    "alias of itself": ("vms: &v [*v]", "refers to a value that contains it"),
    "alias of a mapping in itself": ("vms: &v {network: *v}", "refers to a value that contains it"),
    "merge of itself": ("vms: &v {<<: [*v]}", "refers to a value that contains it"),
    "unknown alias": ("vms: *nobody", "undefined alias"),
    "billion laughs": (LAUGHS, "more than 10,000 values"),
    "brackets": ("vms: " + "[" * 5000 + "]" * 5000, "more than 32 levels"),
    "indents": ("".join(" " * n + "vms:\n" for n in range(100)), "more than 32 levels"),
    "values": ("vms: [" + "1," * 20_000 + "]", "more than 10,000 values"),
    "list as key": ("? [a, b]\n: 1", "a key that is a sequence is not text"),
    "mapping as key": ("? {a: b}\n: 1", "a key that is a mapping is not text"),
    "number as key": ("1: 2", "the key '1' is not text"),
    "bool as key": ("off: 2", "the key 'off' is not text"),
    "null as key": ("~: 2", "the key '~' is not text"),
    "Python's tag": ("vms: !!python/object/apply:os.system [ls]", "os.system' is not allowed"),
    "key with a bracket": ("p[: 1", "unknown key 'p['"),
    "own tag": ("vms: !foo x", "the tag '!foo' is not allowed"),
    "date of no calendar": ("schedule: 2013-99-99", "not a cron expression"),
    "5,000 digits": ("seed2: " + "9" * 5000, "not a readable number"),
    "5,000 hexadecimal digits": ("seed2: 0x" + "f" * 5000, "more than 40 digits"),
    "no digits": ("seed2: 0x_", "not a readable number"),
    "merge of a number": ("<<: 3", "expected a mapping"),
    "NUL": ("vms: a\0b", "the character #x00 is not allowed"),
    "escape of no character": ('question: "\\U00110000"', "an escape names no character"),
    "lone surrogate": ('slo: "\\ud800"', "write a mapping of keys"),
    "large": ("# " + "x" * 200_000, "larger than 128 KiB"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.timeout(20)
def test_a_study_with_more_than_plain_data_is_refused_with_its_line(name: str) -> None:
    text, message = BAD[name]
    with pytest.raises(InputError) as caught:
        parse_study(TEXT + text + "\n", "q.yaml")
    assert message in caught.value.what
    line = caught.value.where.removeprefix("q.yaml").removeprefix(":").split(",")[0]
    assert name == "large" or int(line) > len(TEXT.splitlines())
    assert len(caught.value.what) < 300


@pytest.mark.parametrize("name", BAD)
@pytest.mark.timeout(20)
def test_every_yaml_reader_refuses_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "input.yaml"
    path.write_text(BAD[name][0] + "\n")
    for read in (read_study, read_catalogue, lambda path: read_profile(str(path))):
        with pytest.raises(InputError, match=r"input\.yaml"):
            read(path)


@pytest.mark.timeout(20)
def test_hypotheses_of_a_run_use_the_same_reader(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text("a: &a [*a]\n")
    with pytest.raises(InputError, match=r"study\.yaml:1"):
        read_hypotheses(path)


@pytest.mark.parametrize(
    "value", ["&a [*a]", "2013-99-99 : 1", "!foo x", "9" * 5000, "[" * 5000, "{1: 2}"]
)
def test_a_command_line_value_uses_the_same_reader(value: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_study(TEXT, "q.yaml", parse_overrides([f"vms={value}"]))
    assert "vms" in caught.value.where


@pytest.mark.parametrize("key", [".".join("a" * 5000), ".", "question." + ".".join("b" * 30)])
def test_an_override_of_a_deep_key_is_refused(key: str) -> None:
    with pytest.raises(InputError):
        parse_study(TEXT, "q.yaml", parse_overrides([f"{key}=1"]))


def test_a_fault_in_an_override_is_reported_at_the_override() -> None:
    with pytest.raises(InputError) as caught:
        parse_study(TEXT, "q.yaml", {"repetitions": "two"})
    assert caught.value.where == "q.yaml with repetitions replaced, key repetitions"


def test_a_date_is_read_as_text() -> None:
    text = TEXT.replace("question: Do", "question: 2013-02-26\n#")
    assert parse_study(text, "q.yaml").study.question == "2013-02-26"


def test_aliases_and_merges_within_the_limits_are_read() -> None:
    text = TEXT.replace("factors:", "factors: &f").replace("repetitions: 1", "repetitions: &b 1")
    merged = parse_study(text.replace("seed: 20130226", "seed: *b"), "q.yaml").study
    assert (merged.repetitions.at_most, merged.seed) == (1, 1)


@pytest.mark.timeout(20)
def test_a_pipe_and_a_device_are_refused_without_opening_them(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path("/dev/null"), tmp_path):
        with pytest.raises(InputError, match="not a regular file"):
            read_study(path)


@pytest.mark.parametrize(
    ("old", "new", "key", "hint"),
    [
        ("seed:", "sed:", "sed", "did you mean seed?"),
        # there is a `mix` elsewhere
        ("mixes:", "mix:", "workloads[1].ycsb.mix", "did you mean mixes?"),
        ("vms_per_host:", "vms:", "factors.vms", "did you mean vms_per_host?"),
        ("disk_type: auto", "type: auto", "hosts[0].disks[0].type", "did you mean disk_type?"),
        (
            "repetitions: 1",
            "repetitions: {at_last: 5}",
            "repetitions.at_last",
            "did you mean at_least?",
        ),
        ("seed:", "zzzz:", "zzzz", "check the spelling;"),
        # it stands elsewhere
        ("roles:", "port: 2222\n    roles:", "hosts[0].port", "did you mean ssh.port?"),
        ("seed:", "jump: bastion\nseed:", "jump", "did you mean ssh.jump?"),
        (
            "roles:",
            "seed: 1\n    roles:",
            "hosts[0].seed",
            "did you mean seed at the top of the file?",
        ),
        # nearer than a key of another workload, and than one of the file that is a little similar (question)
        (
            "mixes:",
            "client: {duration: 1 s}\n      mixes:",
            "workloads[1].ycsb.client.duration",
            "did you mean workloads[].ycsb.duration?",
        ),
        (
            "seed:",
            "connections: 1\nseed:",
            "connections",
            "did you mean workloads[].ycsb.client.connections?",
        ),
        # misspelt, and it stands elsewhere
        ("seed:", "durtaion: 17 s\nseed:", "durtaion", "did you mean workloads[].ycsb.duration?"),
        ("seed:", "qeuue: ssd\nseed:", "qeuue", "did you mean queue?"),
        # old names: where the new one stands, misspelt, and no more read
        (
            "roles:",
            "medium: flash\n    roles:",
            "hosts[0].medium",
            "did you mean hosts[].disks[].disk_type?",
        ),
        ("seed:", "medium: flash\nseed:", "medium", "did you mean factors.disk_type?"),
        ("disk_type: auto", "mediun: auto", "hosts[0].disks[0].mediun", "did you mean disk_type?"),
        (
            "seed:",
            "isolation: {}\nseed:",
            "isolation",
            "did you mean workloads[].ycsb.noisy_neighbour?",
        ),
        ("repetitions: 1", "blocks: 1", "blocks", "did you mean repetitions?"),
    ],
)
def test_the_error_for_a_misspelt_key_suggests_one_that_may_stand_there(
    old: str, new: str, key: str, hint: str
) -> None:
    """And is the only one: that a key is missing, or a list too short, is a consequence."""
    assert old in TEXT
    with pytest.raises(InputError) as caught:
        parse_study(TEXT.replace(old, new), "q.yaml")
    assert not isinstance(caught.value, FaultsError)
    assert caught.value.what == f"unknown key {key.rpartition('.')[2]!r}."
    assert caught.value.where.endswith(f", key {key}")
    assert caught.value.remedy.startswith(hint)


def test_all_faults_are_named_at_once_each_with_its_line_and_remedy() -> None:
    text = TEXT.replace("seed:", "sed:").replace("mixes:", "mix:").replace("17 s", "17")
    with pytest.raises(FaultsError) as caught:
        parse_study(text, "q.yaml")
    found = {one.where.rsplit(" ", 1)[-1]: one.remedy.split(" `")[0] for one in caught.value.faults}
    assert found == {
        "workloads[1].ycsb.duration": "correct the value;",
        "workloads[1].ycsb.mix": "did you mean mixes?",
        "sed": "did you mean seed?",
    }
    assert all(re.match(r"q\.yaml:\d+, key ", one.where) for one in caught.value.faults)
    assert "did you mean mixes? did you mean seed? `" in caught.value.remedy


def test_many_faults_are_named_up_to_a_length() -> None:
    text = TEXT + "".join(f"unknown_{n}: 1\n" for n in range(500))
    with pytest.raises(FaultsError, match=r"\(and \d+ more\)") as caught:
        parse_study(text, "q.yaml")
    assert len(str(caught.value)) < 4000


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("wirte", "did you mean write?"),
        ("xxxxx", "correct the value;"),
        ("7", "correct the value;"),
    ],
)
def test_the_error_for_a_mistyped_value_suggests_a_similar_one(wrong: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_study(TEXT.replace("modes: [write", f"modes: [{wrong}"), "q.yaml")
    assert caught.value.remedy.startswith(hint)
