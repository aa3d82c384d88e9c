"""Rule 23: differences caused by the topology are expected; all others are named and prevent
comparison."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.summarise.comparability import comparability_warnings, unequal_hosts
from density_study.analysis.summary.disclosure import guests_are_emulated, unexpected_differences
from density_study.cluster.lifecycle.disclosed import disclose
from density_study.cluster.model.store import store_named
from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import Stacks
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.stack import Java, Stack
from density_study.cluster.stack.store_software import StoreSoftware
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local, with_variant

TOPOLOGIES = {"b1-v1-flash": "v1-flash", "b1-v2-flash": "v2-flash", "b2-v1-flash": "v1-flash"}
DECLARED = {
    build: {"topology": name, "vms_per_host": name[1], "disk_type": "flash"}
    for build, name in TOPOLOGIES.items()
}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _disclosure(build: str, workers: int) -> dict[str, Any]:
    """Like density_study.cluster.lifecycle.bring_up: files and command lines contain the build's paths."""
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


def test_differences_caused_by_topology_or_build_paths_are_expected() -> None:
    assert unexpected_differences(_run(), DECLARED) == ()


@pytest.mark.parametrize("key", ["in_effect", "network", "daemons", "files"])
def test_a_table_that_one_topology_leaves_empty_is_expected(key: str) -> None:
    variants = {"b1": {"topology": "x"}, "b2": {"topology": "y"}}
    built = {"b1": {key: {}}, "b2": {key: {"a": "1"}}}
    assert unexpected_differences(built, variants) == ()
    alike = {"b1": variants["b1"], "b2": variants["b1"]}
    found = unexpected_differences(built, alike)
    assert {difference.key for difference in found} == {key, f"{key}.a"}


def test_real_disclosures_of_two_densities_can_be_compared() -> None:
    """New fields of `disclose` must be added here: caused by a factor, or equal in all builds."""
    java = Java(Path("/opt/java"), "17.0.15")
    stack = Stack("any", "1", Path("/opt/any"), "0" * 64)
    disclosed = {
        build: disclose(fields, render(fields), Stacks(java, java, stack, stack), provider_named("local"))
        for build, fields in (
            ("b1-v1-flash", blueprint(local(1))), ("b1-v2-flash", blueprint(local(2)))
        )
    }  # fmt: skip
    assert unexpected_differences(disclosed, DECLARED) == ()


def test_real_disclosures_of_two_stores_on_hadoop_can_be_compared() -> None:
    java, stack = Java(Path("/opt/java"), "17"), Stack("any", "1", Path("/opt/any"), "0" * 64)
    software = StoreSoftware("Accumulo", "2.1.4", "1" * 64, java=java)
    hbase = with_variant(local(), levels={"store": "hbase-page-cache"})
    accumulo = with_variant(
        replace(local(servers=0), name="other"),
        levels={"store": "accumulo-page-cache"},
        store=store_named("accumulo"),
    )
    variants = {"b1": (hbase, None), "b2": (accumulo, software)}
    disclosed = {
        build: disclose(
            blueprint(placed),
            render(blueprint(placed)),
            Stacks(java, java, stack, stack, known),
            provider_named("local"),
        )
        for build, (placed, known) in variants.items()
    }
    told = {build: {**one.declared, "topology": one.name} for build, (one, _) in variants.items()}
    assert unexpected_differences(disclosed, told) == ()
    assert disclosed["b1"]["stacks"] == disclosed["b2"]["stacks"]


def test_the_bare_host_is_the_control_variant_of_containers() -> None:
    run = _run()
    for build in ("b1-v1-flash", "b2-v1-flash"):
        run[build]["containers"] = {"runc": "1.1.5", "cgroup_version": 1}
    bare = {**DECLARED["b1-v2-flash"], "vms_per_host": "0"}
    assert unexpected_differences(run, {**DECLARED, "b1-v2-flash": bare}) == ()
    run["b2-v1-flash"]["containers"]["runc"] = "1.2.0"
    (difference,) = unexpected_differences(run, DECLARED)
    assert difference.key == "containers.runc"


def test_what_guests_have_of_their_host_follows_from_the_density() -> None:
    run = _run()
    for build, queues in (("b1-v1-flash", 8), ("b2-v1-flash", 8), ("b1-v2-flash", 4)):
        run[build]["guests"] = {"w1": {"network_queues": queues}}
    assert unexpected_differences(run, DECLARED) == ()
    run["b2-v1-flash"]["guests"]["w1"]["network_queues"] = 1
    (difference,) = unexpected_differences(run, DECLARED)
    assert difference.key == "guests.w1.network_queues"


def test_a_store_in_the_client_has_no_daemons() -> None:
    run = _run()
    run["b1-v2-flash"]["daemons"] = {}
    assert unexpected_differences(run, DECLARED) == ()


def test_machine_and_software_must_be_equal_in_all_builds() -> None:
    for key, inner, value in (
        ("machine", "kernel", "Linux 6.2"), ("stacks", "java", "17.0.16"), ("native_hadoop", None, True),
    ):  # fmt: skip
        run = _run()
        if inner:
            run["b1-v2-flash"][key][inner] = value
        else:
            run["b1-v2-flash"][key] = value
        (difference,) = unexpected_differences(run, DECLARED)
        assert difference.key == (f"{key}.{inner}" if inner else key)
        assert "b1-v2-flash" in str(difference) and "b2-v1-flash" in str(difference)


def test_builds_of_one_topology_must_have_equal_configurations() -> None:
    run = _run()
    run["b2-v1-flash"]["daemons"]["w1/datanode"].append("-Xmx1g")
    run["b2-v1-flash"]["files"]["nodes/w1/hdfs-site.xml"]["text"] += "<value>512</value>"
    keys = [difference.key for difference in unexpected_differences(run, DECLARED)]
    assert keys == ["daemons.w1/datanode", "files.nodes/w1/hdfs-site.xml.text"]


def test_disks_may_differ_where_the_disk_type_is_the_factor() -> None:
    run = _run()
    run["b1-v2-flash"]["disks"] = {"/slow": {"device": "/dev/sda"}}
    assert [difference.key for difference in unexpected_differences(run, DECLARED)] == [
        "disks./data.device",
        "disks./slow.device",
    ]
    slow = {**DECLARED["b1-v2-flash"], "disk_type": "hdd"}
    assert unexpected_differences(run, {**DECLARED, "b1-v2-flash": slow}) == ()


def _versions(**declared: str) -> dict[str, dict[str, str]]:
    """Builds of one density, the second of which declares something else than the first."""
    first = {"topology": "v1-flash-a", "vms_per_host": "1", "disk_type": "flash"}
    return {"b1-v1-flash": first, "b1-v2-flash": {**first, **declared, "topology": "v1-flash-b"}}


@pytest.mark.parametrize(
    ("declared", "key", "followed"),
    [
        ({"stack.hadoop": "3.4.1"}, "hadoop", True),
        ({"stack.hadoop": "3.4.1"}, "java", False),
        ({"stack.hbase": "2.5.13-hadoop3"}, "hadoop", False),
        ({"stack.java": "21"}, "java", True),
        ({"vms_per_host": "2"}, "java", False),
        ({"isolation": "host"}, "java", True),  # the bare host's, not that of the VMs' image
        ({"isolation": "host"}, "hadoop", False),
        ({"configuration.jvm.regionserver.collector": "ZGC"}, "hadoop", False),
        ({"configuration.jvm.regionserver.collector": "ZGC"}, "java", False),
    ],
)
def test_versions_may_differ_only_as_declared(
    declared: dict[str, str], key: str, followed: bool
) -> None:
    run = {build: _disclosure(build, 1) for build in ("b1-v1-flash", "b1-v2-flash")}
    assert unexpected_differences(run, _versions(**declared)) == ()
    stacks = run["b1-v2-flash"]["stacks"]
    stacks[key] = {"version": "3.4.1"} if key == "hadoop" else "21.0.9"
    keys = [one.key for one in unexpected_differences(run, _versions(**declared))]
    assert keys == ([] if followed else [f"stacks.{key}" + ".version" * (key == "hadoop")])


@pytest.mark.parametrize("name", [one.name for one in fields(Versions) if one.name != "client"])
def test_everything_of_a_stack_is_declared_and_explains_what_it_discloses(name: str) -> None:
    """Two versions of ZooKeeper were declared as equal, and their jars refused every comparison."""
    java, stack = Java(Path("/opt/java"), "17"), Stack("any", "1", Path("/opt/any"), "0" * 64)
    disclosed, told = {}, {}
    for build, level in (("b1", "17"), ("b2", "21")):
        part = "hadoop" if name == "tarball" else name
        own: Any = (
            Java(java.home, level) if name == "java" else Stack(part, level, stack.home, level)
        )
        disclosed[build] = {
            "stacks": replace(Stacks(java, java, stack, stack), **{part: own}).disclose()
        }
        variant = with_variant(local(), versions=replace(VERSIONS, **{name: level}))
        told[build] = {**variant.declared, "topology": build}
    assert disclosed["b1"] != disclosed["b2"] and told["b1"][f"stack.{name}"] == "17"
    assert unexpected_differences(disclosed, told) == ()


def test_the_jars_of_hbase_follow_from_the_version_of_hadoop_and_its_own_does_not() -> None:
    run = {build: _disclosure(build, 1) for build in ("b1-v1-flash", "b1-v2-flash")}
    for number, one in enumerate(run.values()):
        one["stacks"]["hbase"] = {"version": "2.6.4", "jars_sha256": f"{number}"}
    assert unexpected_differences(run, _versions(**{"stack.hadoop": "3.4.1"})) == ()
    run["b1-v2-flash"]["stacks"]["hbase"]["version"] = "2.6.3"
    (difference,) = unexpected_differences(run, _versions(**{"stack.hadoop": "3.4.1"}))
    assert difference.key == "stacks.hbase.version"


def test_a_variant_that_runs_another_version_than_its_equals_is_named() -> None:
    """All declare 3.4.2, and one of them runs 3.4.3."""
    run = _run()
    run["b2-v1-flash"]["stacks"]["hadoop"]["version"] = "3.4.3"
    same = {build: {**own, "stack.hadoop": "3.4.2"} for build, own in DECLARED.items()}
    (difference,) = unexpected_differences(run, same)
    assert difference.key == "stacks.hadoop.version"


def test_a_difference_in_a_rendered_file_is_named_by_its_property() -> None:
    run = _run()
    for build, value in (("b1-v1-flash", "1"), ("b2-v1-flash", "2")):
        run[build]["files"]["nodes/w1/hbase-site.xml"] = {"text": configuration_xml({"a.b": value})}
    run["b1-v2-flash"]["files"]["nodes/w1/hbase-site.xml"] = {"text": configuration_xml({})}
    (difference,) = unexpected_differences(run, DECLARED)
    assert difference.key == "files.nodes/w1/hbase-site.xml.a.b"


def test_acceleration_is_read_from_the_disclosure() -> None:
    assert guests_are_emulated({"acceleration": {"h1": {"accel": "tcg", "why": "no /dev/kvm"}}})
    assert not guests_are_emulated({"acceleration": {"h1": {"accel": "kvm", "why": "booted"}}})
    assert not guests_are_emulated({})


def test_the_measured_rate_of_an_emulated_disk_may_differ_and_its_limits_may_not() -> None:
    run = _run()
    for build, rate in zip(run, (99.0, 101.0, 100.0), strict=True):
        disk = {
            "emulated": True,
            "limits": {"read_ops_s": 100},
            "measured": {"read": {"seen": rate}},
        }
        run[build]["emulated"] = {"/data": disk}
    assert unexpected_differences(run, DECLARED) == ()
    run["b2-v1-flash"]["emulated"]["/data"]["limits"]["read_ops_s"] = 200
    assert [d.key for d in unexpected_differences(run, DECLARED)] == [
        "emulated./data.limits.read_ops_s"
    ]


def test_a_field_missing_from_one_build_is_a_difference() -> None:
    run = copy.deepcopy(_run())
    del run["b1-v2-flash"]["machine"]["cores"]
    (difference,) = unexpected_differences(run, DECLARED)
    assert (
        str(difference)
        == "machine.cores: 2 (b1-v1-flash, b2-v1-flash), not disclosed (b1-v2-flash)"
    )


def test_only_unexpected_differences_cause_a_warning() -> None:
    run = _run()
    assert not list(comparability_warnings(unexpected_differences(run, DECLARED)))
    run["b1-v2-flash"]["machine"]["kernel"] = "Linux 6.2"
    (warning,) = comparability_warnings(unexpected_differences(run, DECLARED))
    assert warning.code == "incomparable-builds"
    assert (
        "not compared: machine.kernel: Linux 6.1 (b1-v1-flash, b2-v1-flash), Linux 6.2"
        in warning.message
    )


def test_who_could_connect_makes_no_difference() -> None:
    run = _run()
    for build, who in zip(run, ("this user", "every user"), strict=False):
        run[build]["reachable_by"] = who  # earlier records, such as the third, do not tell
    assert unexpected_differences(run, DECLARED) == ()


def _with_facts(build: str, **values: str) -> dict[str, Any]:
    return {**_disclosure(build, 1), "facts": {"machine": {"h1": values}}}


def test_a_fact_of_a_host_that_changed_between_builds_is_named_whatever_the_density() -> None:
    run = {
        build: _with_facts(build, governor="performance" if n else "powersave")
        for n, build in enumerate(TOPOLOGIES)
    }
    (difference,) = unexpected_differences(run, DECLARED)
    assert difference.key == "facts.machine.h1.governor"
    assert difference.values["powersave"] == ["b1-v1-flash"]


def test_what_is_unknown_of_a_host_is_no_difference() -> None:
    values = ({"governor": "performance"}, {"governor": "unknown"}, {})
    run = {b: _with_facts(b, **each) for b, each in zip(TOPOLOGIES, values, strict=True)}
    assert unexpected_differences(run, DECLARED) == ()


def test_the_place_of_a_fact_may_follow_from_a_factor() -> None:
    run = _run()
    for build, scheduler in zip(TOPOLOGIES, ("none", "bfq", "noop"), strict=True):
        run[build]["facts"] = {"disks": {"h1": {"/d": {"scheduler": scheduler}}}}
    (difference,) = unexpected_differences(run, DECLARED)
    assert difference.key == "facts.disks.h1./d.scheduler"
    hdd = {**DECLARED["b1-v2-flash"], "disk_type": "hdd"}
    assert unexpected_differences(run, {**DECLARED, "b1-v2-flash": hdd}) == ()
    for build, waits in zip(TOPOLOGIES, ("rx-usecs 8", "rx-usecs 50", "rx-usecs 8"), strict=True):
        run[build]["facts"] = {"network": {"h1": {"coalescing": waits}}}
    assert len(unexpected_differences(run, DECLARED)) == 1
    slow = {**DECLARED["b1-v2-flash"], "network.coalesce": "{'rx-usecs': 50}"}
    assert unexpected_differences(run, {**DECLARED, "b1-v2-flash": slow}) == ()


def test_hosts_of_one_build_that_differ_are_a_warning() -> None:
    run = _run()
    run["b1-v1-flash"]["facts"] = {"machine": {"h1": {"smt": "on"}, "h2": {"smt": "off"}}}
    (warning,) = unequal_hosts(run.values())
    assert warning.code == "unequal-hosts" and "smt: on (h1), off (h2)" in warning.message
    assert not list(unequal_hosts(_run().values()))
