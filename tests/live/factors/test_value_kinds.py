"""The table of kinds of values agrees with the code and the default files of Hadoop and HBase."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.render.value_kinds import kind_fault, value_kinds
from tests.live.factors.getters import getters_in

KINDS = {
    "getInt": "int",
    "getLong": "long",
    "getLongBytes": "bytes",
    "getFloat": "decimal",
    "getDouble": "decimal",
    "getBoolean": "switch",
    "getTimeDuration": "time",
}
NARROWER = (("int", "long"), ("int", "bytes"), ("long", "bytes"))
"""Where code reads one property in two ways, both must be able to."""


@pytest.fixture(scope="module")
def jars() -> list[Path]:
    stacks = ensure_stacks()
    homes = (stacks.hadoop.home, stacks.hbase.home)
    return [jar for home in homes for jar in sorted((home / "lib").glob("h[ab]*-*.jar"))]


def test_each_property_has_the_kind_that_the_code_reads(jars: list[Path]) -> None:
    wrong, seen = {}, 0
    for name, methods in getters_in([jar for jar in jars if "tests" not in jar.name]).items():
        kinds = {KINDS[method] for method in methods & KINDS.keys()}
        for narrow, wide in NARROWER:
            kinds -= {wide} if narrow in kinds else set()
        known = value_kinds().get(name)
        if known and kinds:
            seen += 1
            if kinds != {known.kind}:
                wrong[name] = (known.kind, kinds)
    assert wrong == {}
    assert seen > 1_200


def defaults(jars: list[Path]) -> Iterator[tuple[str, str]]:
    for path in jars:
        with zipfile.ZipFile(path) as jar:
            for entry in (one for one in jar.namelist() if one.endswith("-default.xml")):
                for one in ET.fromstring(jar.read(entry)).iter("property"):
                    yield (
                        (one.findtext("name") or "").strip(),
                        (one.findtext("value") or "").strip(),
                    )


def test_every_default_is_a_value_that_a_study_may_set(jars: list[Path]) -> None:
    known = [(name, value) for name, value in defaults(jars) if value and "$" not in value]
    assert sum(name in value_kinds() for name, _ in known) > 700
    assert [fault for name, value in known if (fault := kind_fault(name, value))] == []
