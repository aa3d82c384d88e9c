"""A study costs bounded time and memory: no pattern backtracks, and nothing expands without end."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path as File

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.secrets import has_login, is_secret, without_logins
from density_study.cluster.providers.existing.configuration import (
    ClientConfiguration,
    read_configuration,
)
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.render.settable import flag_fault, property_fault
from density_study.workloads.base.yaml_text import MAX_BYTES
from density_study.workloads.study.study_file import parse_study
from tests.security.studyfile.documents import ALL, LOCAL, Path, changed, fault, texts

SIZE = 120_000
MOST_CPU_S = 3.0
"""For all of them together. Those that backtrack take minutes for one."""
LONG = tuple(
    (part * SIZE)[:SIZE]
    for part in (
        *(
            "://:",
            "{{",
            "{{ ",
            "{{ message.text ",
            "{% ",
            "1",
            "1_",
            "1.",
            "1e",
            " ",
            "a",
            "a-",
            "a.",
        ),
        *(
            "-",
            "@",
            "a@",
            "/",
            "/a",
            "../",
            "0 ",
            "*/1,",
            "(",
            "${a}",
            "[",
            ":",
            "\\",
            "%",
            "=",
            ",",
        ),
        *("password=", "://a:"),
    )
)


def cpu_s(act: object, *arguments: object) -> float:
    begun = time.process_time()
    act(*arguments)  # type: ignore[operator]
    return time.process_time() - begun


@pytest.mark.parametrize("name", ALL)
def test_a_long_text_in_any_place_costs_little(name: str) -> None:
    places = list(texts(ALL[name]))
    used = [
        (cpu_s(fault, changed(ALL[name], path, text)), path, text[:8])
        for number, path in enumerate(places)
        for text in LONG[number % 3 :: 3]
    ]
    slowest = max(used)
    assert slowest[0] < MOST_CPU_S, slowest


@pytest.mark.parametrize("text", LONG, ids=lambda text: repr(text[:4]))
def test_a_long_text_in_the_worst_places_costs_little(text: str) -> None:
    for path in (("notify", 2, "arguments", "text"), ("hosts", 0, "memory"), ("schedule", "cron"),
                 ("notify", 1, "mail", 0), ("compare", "tolerance"), ("expect", 0, "2_over_1")):  # fmt: skip
        assert cpu_s(fault, changed(LOCAL, path, text)) < MOST_CPU_S, path
    for act in (has_login, without_logins, flag_fault):
        assert cpu_s(act, text) < MOST_CPU_S
    for value in (text, text[:4000]):
        assert cpu_s(is_secret, "a.b", value) < MOST_CPU_S
        assert cpu_s(property_fault, "a.b", "core-site", {"core-site": {"a.b": value}}) < MOST_CPU_S
    assert cpu_s(is_secret, text, "x") < MOST_CPU_S


def test_a_long_value_in_a_file_is_refused_before_it_is_looked_at() -> None:
    with pytest.raises(InputError, match="a value has 100,000 characters"):
        parse_study(f"study: '{'x' * 100_000}'\n", "s.yaml")


@pytest.mark.parametrize(
    "schedule", ["0-99999999 * * * *", "*/99999999 0 * * *", "0 0 1 1 0-99999999999", "9" * 90]
)
def test_a_range_of_a_schedule_is_not_counted_out(schedule: str) -> None:
    tracemalloc.start()
    said = fault(changed(LOCAL, ("schedule", "cron"), schedule))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "is not a cron expression" in said and peak < 20 * 2**20


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "study: s\nhosts: [" + "{name: a}, " * 5000 + "]\n",
        "study: s\nfactors: {configuration: {" + ", ".join(f"a{n}: {{}}" for n in range(4000)) + "}}\n",
        pytest.param("study: s\nworkloads: [" + "{ycsb: {}}, " * 3000 + "]\n", marks=pytest.mark.slow),
        "study: s\nslo: {" + ", ".join(f"a{n}: 1 ms" for n in range(4000)) + "}\n",
        "x: " + "1:" * 8000 + "1\n",
        "x: 0b" + "1" * 16000 + "\n",
        "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(40)),
        "a: " + "[" * 30 + "]" * 30 + "\n" + "b: {? a : b}\n" * 3000,
        "'" + "\n" * 100_000,
        "? " * 30_000,
        "- " * 60_000,
        "a: |\n" + " x\n" * 40_000,
        "#" * MAX_BYTES,
    ],
    ids=range(13),
)  # fmt: skip
def test_a_large_study_is_refused_soon(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(InputError):
        parse_study(text[:MAX_BYTES], "s.yaml")
    assert time.process_time() - begun < 4 * MOST_CPU_S


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("workloads", 0, "ycsb", "threads"), list(range(1, 8000)), "test cases"),
        (("workloads", 0, "ycsb", "records"), list(range(1000, 9000)), "test cases"),
        (("factors", "stack"), [{"hadoop": f"3.4.{n}"} for n in range(600)], "topologies"),
        pytest.param(("workloads", 0, "ycsb", "latency_at"), [f"{n}/s" for n in range(1, 8000)],
                     "test cases", marks=pytest.mark.slow),
        pytest.param(("factors", "stack"), [{"hadoop": f"3.4.{n}"} for n in range(3000)],
                     "topologies", marks=pytest.mark.slow),
        (("repetitions",), 1000, ""),
    ],
    ids=lambda value: str(value)[-20:],
)  # fmt: skip
def test_long_lists_are_not_multiplied_out(path: Path, value: object, says: str) -> None:
    document = {key: LOCAL[key] for key in ("study", "hosts", "factors", "workloads")}
    tracemalloc.start()
    begun = time.process_time()
    said = fault(changed({"repetitions": 1, **document}, path, value))
    spent_s = time.process_time() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert says in said and spent_s < 20 * MOST_CPU_S and peak < 200 * 2**20


def test_variables_of_a_client_configuration_expand_within_bounds() -> None:
    tenfold = {f"v{n}": f"${{v{n + 1}}}" * 10 for n in range(12)} | {"v12": "x" * 50}
    for properties in (tenfold, {"v0": "${v0}" * 10_000}, {"v0": "${" * 30_000 + "${v0}" * 1000},
                       {"v0": "${v1}", "v1": "x" * 2**20}):  # fmt: skip
        found = ClientConfiguration(File("/"), properties)
        assert cpu_s(found.get, "v0") < MOST_CPU_S
        assert len(found.get("v0")) <= max(64 * 1024, *map(len, properties.values()))


def test_variables_expand_as_often_as_in_hadoop() -> None:
    chain = {f"v{n}": f"${{v{n + 1}}}" for n in range(30)} | {"v30": "end"}
    chain |= {"one": "${two}", "two": "${env.X}-${three}", "three": "3"}
    found = ClientConfiguration(File("/"), chain)
    assert found.get("v10") == "end" and found.get("v9") != "end"
    assert found.get("one") == "${env.X}-3"


def test_a_huge_client_configuration_is_refused(tmp_path: File) -> None:
    (tmp_path / "core-site.xml").write_text(configuration_xml({"a": "x" * 9 * 2**20}))
    (tmp_path / "hbase-site.xml").write_text(configuration_xml({}))
    with pytest.raises(InputError, match="larger than 8 MiB"):
        read_configuration(tmp_path)
