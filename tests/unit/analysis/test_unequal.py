"""Rule 23: what differs because the topology does is owed to it; all else is named and not compared."""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path
from typing import Any

from analysis.summarise.warnings import comparability_warnings
from analysis.summary.disclosure import guests_are_emulated, unexpected_differences
from cluster.lifecycle.bring_up import disclose
from cluster.providers.provider import provider_of
from cluster.providers.stacks import Stacks
from cluster.render.rendered import render
from cluster.stack import Java, Stack
from tests.support.topologies import blueprint, local

TOPOLOGIES = {"b1-v1-flash": "v1-flash", "b1-v2-flash": "v2-flash", "b2-v1-flash": "v1-flash"}
MEDIA = dict.fromkeys(TOPOLOGIES, "flash")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _disclosure(build: str, workers: int) -> dict[str, Any]:
    """As cluster.lifecycle.bring_up makes it: files and command lines hold the build's paths."""
    text = f"<value>/data/{build}/w{workers}</value><value>127.0.0.1:2100{workers}</value>"
    return {
        "stacks": {"java": "17.0.15", "hadoop": {"version": "3.4.2"}},
        "files": {
            "nodes/w1/hdfs-site.xml": {"sha256": _sha256(text), "text": text},
            "nodes/w1/hadoop.classpath": {"sha256": _sha256(build)},
            **{f"nodes/w{n}/zoo.cfg": {"sha256": "1", "text": "x"} for n in range(2, workers + 1)},
        },
        "daemons": {"w1/datanode": ["java", f"-Dlog=/runs/r/builds/{build}/w1.log"]},
        "machine": {"kernel": "Linux 6.1", "cores": 2},
        "disks": {"/data": {"device": "/dev/vda"}},
        "native_hadoop": False,
    }


def _run() -> dict[str, dict[str, Any]]:
    return {build: _disclosure(build, int(name[1])) for build, name in TOPOLOGIES.items()}


def test_what_the_topology_or_the_builds_paths_explain_is_no_difference() -> None:
    assert unexpected_differences(_run(), TOPOLOGIES, MEDIA) == ()


def test_two_densities_as_they_are_really_disclosed_can_be_compared() -> None:
    """What `disclose` adds one day must be told here: a factor's own, or equal in all builds."""
    java = Java(Path("/opt/java"), "17.0.15")
    stack = Stack("any", "1", Path("/opt/any"), "0" * 64)
    told = {
        build: disclose(given, render(given), Stacks(java, stack, stack), provider_of("local"))
        for build, given in (
            ("b1-v1-flash", blueprint(local(1))), ("b1-v2-flash", blueprint(local(2)))
        )
    }  # fmt: skip
    topologies = {build: TOPOLOGIES[build] for build in told}
    assert unexpected_differences(told, topologies, {build: MEDIA[build] for build in told}) == ()


def test_the_machine_and_the_software_must_be_equal_in_all_builds() -> None:
    for key, inner, value in (
        ("machine", "kernel", "Linux 6.2"), ("stacks", "java", "17.0.16"), ("native_hadoop", None, True),
    ):  # fmt: skip
        run = _run()
        if inner:
            run["b1-v2-flash"][key][inner] = value
        else:
            run["b1-v2-flash"][key] = value
        (found,) = unexpected_differences(run, TOPOLOGIES, MEDIA)
        assert found.key == (f"{key}.{inner}" if inner else key)
        assert "b1-v2-flash" in str(found) and "b2-v1-flash" in str(found)


def test_builds_of_one_topology_must_be_rendered_alike() -> None:
    run = _run()
    run["b2-v1-flash"]["daemons"]["w1/datanode"].append("-Xmx1g")
    run["b2-v1-flash"]["files"]["nodes/w1/hdfs-site.xml"]["text"] += "<value>512</value>"
    keys = [one.key for one in unexpected_differences(run, TOPOLOGIES, MEDIA)]
    assert keys == ["daemons.w1/datanode", "files.nodes/w1/hdfs-site.xml.text"]


def test_disks_may_differ_where_the_medium_is_the_factor() -> None:
    run = _run()
    run["b1-v2-flash"]["disks"] = {"/slow": {"device": "/dev/sda"}}
    assert [one.key for one in unexpected_differences(run, TOPOLOGIES, MEDIA)] == [
        "disks./data.device",
        "disks./slow.device",
    ]
    assert unexpected_differences(run, TOPOLOGIES, {**MEDIA, "b1-v2-flash": "hdd"}) == ()


def test_acceleration_is_read_from_the_disclosure() -> None:
    assert guests_are_emulated({"acceleration": {"h1": {"accel": "tcg", "why": "no /dev/kvm"}}})
    assert not guests_are_emulated({"acceleration": {"h1": {"accel": "kvm", "why": "booted"}}})
    assert not guests_are_emulated({})


def test_the_proof_of_an_emulated_disk_is_measured_anew_and_its_limits_are_not() -> None:
    run = _run()
    for build, seen in zip(run, (99.0, 101.0, 100.0), strict=True):
        disk = {
            "emulated": True,
            "limits": {"read_ops_s": 100},
            "measured": {"read": {"seen": seen}},
        }
        run[build]["emulated"] = {"/data": disk}
    assert unexpected_differences(run, TOPOLOGIES, MEDIA) == ()
    run["b2-v1-flash"]["emulated"]["/data"]["limits"]["read_ops_s"] = 200
    assert [d.key for d in unexpected_differences(run, TOPOLOGIES, MEDIA)] == [
        "emulated./data.limits.read_ops_s"
    ]


def test_what_one_build_does_not_disclose_is_a_difference() -> None:
    run = copy.deepcopy(_run())
    del run["b1-v2-flash"]["machine"]["cores"]
    (found,) = unexpected_differences(run, TOPOLOGIES, MEDIA)
    assert str(found) == "machine.cores: 2 (b1-v1-flash, b2-v1-flash), not disclosed (b1-v2-flash)"


def test_only_unexpected_differences_cause_a_warning() -> None:
    run = _run()
    assert not list(comparability_warnings(unexpected_differences(run, TOPOLOGIES, MEDIA)))
    run["b1-v2-flash"]["machine"]["kernel"] = "Linux 6.2"
    (warning,) = comparability_warnings(unexpected_differences(run, TOPOLOGIES, MEDIA))
    assert warning.code == "incomparable-builds"
    assert (
        "not compared: machine.kernel: Linux 6.1 (b1-v1-flash, b2-v1-flash), Linux 6.2"
        in warning.message
    )
