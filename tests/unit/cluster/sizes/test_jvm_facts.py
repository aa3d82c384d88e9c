"""What a JVM chose itself is read from its own words, of each collector."""

from __future__ import annotations

import subprocess

import pytest

from density_study.cluster.lifecycle.jvm_facts import chosen_by
from density_study.cluster.render.jvm import SAYS_ITS_CHOICES
from density_study.cluster.stack import find_java


def said_by(*flags: str) -> list[str]:
    argv = [str(find_java().command), SAYS_ITS_CHOICES, *flags, "-version"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("-XX:+UseG1GC", "-Xmx256m", "-XX:G1HeapRegionSize=8m"),
         {"Heap Region Size": "8M", "Heap Max Capacity": "256M", "Compressed Oops": "Enabled (32-bit)"}),
        (("-XX:+UseZGC", "-Xmx256m"), {"Max Capacity": "256M", "Pre-touch": "Disabled"}),
    ],
)  # fmt: skip
def test_a_jvm_says_what_it_chose(flags: tuple[str, ...], expected: dict[str, str]) -> None:
    found = chosen_by([said_by(*flags)])
    assert expected.items() <= found.items()
    assert {"NUMA Support", "Large Page Support"} <= found.keys()
    assert "Version" not in found


def test_values_that_differ_are_all_there() -> None:
    lines = [
        "[0.01s][info][gc,init] Parallel Workers: 8",
        "[0.01s][info][gc,init] Memory: 24105M",
        "x",
    ]
    other = ["[0.01s][info][gc,init] Parallel Workers: 4"]
    assert chosen_by([lines, other, []]) == {"Parallel Workers": "4, 8"}
    assert chosen_by([]) == {}
