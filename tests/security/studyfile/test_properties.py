"""Properties that name programs, classes, places or rights are refused; those that tune are not."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.render.plain_values import _implementations as implementations
from density_study.cluster.render.settable import property_fault
from density_study.workloads.study.study_file import parse_study
from tests.security.studyfile.documents import listed

EVIL = listed("evil_properties.txt")
GOOD = listed("good_properties.txt")


def fault(line: str) -> str:
    name, _, value = line.partition(" ")
    return property_fault(name, "core-site", {"core-site": {name: value}})


@pytest.mark.parametrize("line", EVIL)
def test_a_property_that_is_more_than_a_number_is_refused_with_a_reason(line: str) -> None:
    assert len(fault(line)) > len(line.split()[0]) + 20


@pytest.mark.parametrize("line", GOOD)
def test_a_property_that_tunes_is_taken(line: str) -> None:
    assert fault(line) == ""


def test_no_value_of_a_shell_a_path_a_class_or_an_address_passes_for_any_name() -> None:
    words = "$(x) `x` ${env.X} /x x/y ../x ~x a.b.C Evil x=y -Dx=y @/x * h:1 http://h/ 0.0.0.0 :: 1;x 1|x"
    values = (*words.split(), "", "a b", "NONE;x", "1&x", "root")
    for name in ("a.b", "dfs.x.count", "hbase.wal.provider", "yarn.some.thing", "mapreduce.x"):
        for value in values:
            assert fault(f"{name} {value}"), (name, value)


@pytest.mark.parametrize("value", ["1\\n2", "1\\r", "\\u2028", "1\\0", "é"])
def test_a_value_is_one_line_of_printable_characters(value: str) -> None:
    text = (
        "study: s\nhosts: [{name: h, memory: 12 GiB, roles: [master, worker, client]}]\n"
        "factors: {vms_per_host: [1], configuration: {a: {core-site: {io.file.buffer.size: "
        f'"{value}"}}}}}}}}\nworkloads: [{{ycsb: {{records: [1000], mixes: [load], threads: [1]}}}}]\n'
    )
    with pytest.raises(InputError, match="printable"):
        parse_study(text, "s.yaml")


def test_listed_implementations_are_of_hadoop_hbase_or_java_alone() -> None:
    classes = {value for values in implementations().values() for value in values if "." in value}
    ours = {"${user.name}", "java.util.concurrent.LinkedBlockingQueue"}
    assert len(classes) > 40
    assert all(one.startswith("org.apache.hadoop.") for one in classes - ours)
