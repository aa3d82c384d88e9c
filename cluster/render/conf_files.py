"""Configuration files of nodes and clients, from `templates/`.

`<name>.properties` holds the properties of <name>.xml, as `name = value` lines with comments; a study may
set those of `name ?= value` lines to something else. Other templates are the files' own text. A misspelt
variable in a template is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal
from xml.etree import ElementTree as ET

import jinja2

from density_study.cluster.model.configuration import SITES, Site
from density_study.cluster.model.host import DiskType
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.versions import numbers
from density_study.cluster.render.blueprint import Blueprint, InstallDirs
from density_study.cluster.render.jvm import ADD_OPENS, FAST_START, jit_flags

StackName = Literal["hadoop", "hbase", "zookeeper"]
CLASSPATH_SUFFIX = ".classpath"
HISTORY_DIR = "/study/history"
"""In HDFS: `intermediate/<user>/*.jhist` is what the ApplicationMaster leaves of each job."""
UNUSED_PORT = 1
"""Reserved for a service (tcpmux) that nothing offers any more; below the ports of `Ports`."""
RACK_FAULT_TOLERANT = (
    "org.apache.hadoop.hdfs.server.blockmanagement.BlockPlacementPolicyRackFaultTolerant"
)
"""A rack is a host: replicas go to as many hosts as possible before two go to the same one."""
STORAGE: dict[DiskType, tuple[str, str]] = {"flash": ("SSD", "ALL_SSD"), "hdd": ("DISK", "HOT")}
"""A disk type's storage type, and the policy that places blocks there."""
DEFAULT_POLICY = "3.4.0"
"""From this Hadoop on, the default policy can be set. Before, it is HOT, which needs DISK."""
_TEMPLATES = Path(__file__).with_name("templates")


@cache
def _environment(folder: Path) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def node_files(blueprint: Blueprint, node: Node) -> dict[str, str]:
    """Name -> text of the files in the conf folder of a node with daemons."""
    values = _values(blueprint, node)
    files = _site_files(blueprint, values)
    files["log4j.properties"] = text_file("log4j-daemon.properties", values)
    files["hadoop-metrics2.properties"] = text_file("hadoop-metrics2.properties", values)
    if "master" in node.roles:
        files["capacity-scheduler.xml"] = configuration_xml(_ours("capacity-scheduler", values))
        files["racks"] = _text("racks", values)
        files["zoo.cfg"] = text_file("zoo.cfg", values)
    return files | _classpath_files(blueprint.homes, blueprint.places.conf_of(node))


def client_files(blueprint: Blueprint, node: Node) -> dict[str, str]:
    """The same for clients. They may share a node with daemons, but must not get the daemons' settings."""
    values = _values(blueprint, replace(node, roles=("client",)))
    files = _site_files(blueprint, values)
    files["log4j.properties"] = text_file("log4j-client.properties", values)
    conf = blueprint.places.client_conf_of(blueprint.topology, node)
    return files | _classpath_files(blueprint.homes, conf)


def store_client_files() -> dict[str, str]:
    """What a client of another store than HBase has in its folder."""
    return {"log4j.properties": _text("log4j-client.properties", {})}


def text_file(template: str, values: Mapping[str, Any], folder: Path = _TEMPLATES) -> str:
    """A file from a template, as its reader decodes it. `folder`: that of the template, by default
    `templates`."""
    text = _text(template, values, folder)
    return _for_java(text) if template.endswith(_READ_AS_LATIN_1) else text


_READ_AS_LATIN_1 = (".properties", "zoo.cfg")
"""So Java's `Properties` decode them in every locale. A path with umlauts would be another folder."""


def _for_java(text: str) -> str:
    def escaped(letter: str) -> str:
        units = letter.encode("utf-16-be").hex(" ", 2).split()
        return "".join(f"\\u{unit}" for unit in units)

    return "".join(letter if letter.isascii() else escaped(letter) for letter in text)


def existing_client_files(homes: InstallDirs, conf: PurePath, origin: PurePath) -> dict[str, str]:
    """What a client of an existing cluster has in its folder beside the cluster's own XML files. `origin`:
    the folder that these are from; clients read there what holds passwords, like ssl-client.xml."""
    log4j = {"log4j.properties": _text("log4j-client.properties", {})}
    return log4j | _classpath_files(homes, conf, origin)


def configuration_xml(properties: Mapping[str, str]) -> str:
    """The text of a Hadoop configuration file: properties sorted by name, values escaped."""
    root = ET.Element("configuration")
    for name in sorted(properties):
        entry = ET.SubElement(root, "property")
        ET.SubElement(entry, "name").text = name
        ET.SubElement(entry, "value").text = properties[name]
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def with_properties(text: str, more: Mapping[str, str]) -> str:
    """The text of such a file, with `more` in place of what it has of these names."""
    properties = {
        one.findtext("name", ""): one.findtext("value", "") for one in ET.fromstring(text)
    }
    return configuration_xml({**properties, **more})


def classpath_flag(conf: PurePath, stack: StackName) -> str:
    """The argument that makes `java` read the class path from a file: 180 jars make a command unreadable."""
    return f"@{conf}/{stack}{CLASSPATH_SUFFIX}"


def log_flags(conf: str) -> tuple[str, ...]:
    """By full path: Hadoop's tests jar comes earlier on the class path and has a file of its own."""
    return (f"-Dlog4j.configuration=file:{conf}/log4j.properties",)


def storage_of(topology: Topology) -> tuple[str, str]:
    """The storage type of the topology's DataNodes, and the policy that places blocks there."""
    has_default = numbers(topology.variant.versions.hadoop) >= numbers(DEFAULT_POLICY)
    return STORAGE[topology.variant.disk_type if has_default else "hdd"]


def _values(blueprint: Blueprint, node: Node) -> dict[str, Any]:
    """The variables of the templates."""
    topology, places, ports = blueprint.topology, blueprint.places, blueprint.ports
    storage_type, storage_policy = storage_of(topology)
    return {
        "topology": topology,
        "master": topology.master,
        "node": node,
        "is_master": "master" in node.roles,
        "is_worker": "worker" in node.roles,
        "is_client": node.roles == ("client",),
        "several_hosts": len({worker.host for worker in topology.workers}) > 1,
        "shared_address": blueprint.shared_address,
        "address": ports.address,
        "port": ports.port,
        "homes": blueprint.homes,
        "places": places,
        "conf": places.conf_of(node),
        "data": places.data[node.name],
        "datanode_dirs": [f"[{storage_type}]file://{d}/datanode" for d in places.data_of(node)],
        "nodemanager_dirs": [f"{d}/nodemanager" for d in places.data_of(node)],
        "hdfs_cache": places.cache_of(node)
        if topology.variant.configuration.hdfs_cache_mib
        else None,
        "sizing": topology.variant.sizing,
        "storage_policy": storage_policy,
        "racks": sorted({f"{worker.address} /{worker.host}" for worker in topology.workers}),
        "beat_ms": blueprint.beat_ms,
        "jit_flags": jit_flags(blueprint.timeout_scale, topology.jit),
        "ADD_OPENS": ADD_OPENS,
        "FAST_START": FAST_START,
        "HISTORY_DIR": HISTORY_DIR,
        "RACK_FAULT_TOLERANT": RACK_FAULT_TOLERANT,
        "UNUSED_PORT": UNUSED_PORT,
    }


def _text(template: str, values: Mapping[str, Any], folder: Path = _TEMPLATES) -> str:
    return _environment(folder).get_template(template).render(values)


def _site_files(blueprint: Blueprint, values: Mapping[str, Any]) -> dict[str, str]:
    """Our properties, and those that the study sets."""
    given = blueprint.topology.variant.configuration.properties
    brought = {"hbase-site": blueprint.homes.hbase_properties}
    return {
        f"{site}.xml": configuration_xml(
            {**_ours(site, values), **brought.get(site, {}), **given.get(site, {})}
        )
        for site in blueprint.topology.store.sites
    }


def _ours(name: str, values: Mapping[str, Any]) -> dict[str, str]:
    text = _text(f"{name}.properties", values)
    return {name: value for name, _, value in _properties(text)}


def fixed_properties() -> Mapping[str, Site]:
    """The properties that we set and a study cannot: name -> the file that has it."""
    return {
        name: site
        for site in SITES
        for name, mark, _ in _properties((_TEMPLATES / f"{site}.properties").read_text())
        if mark == "="
    }


def _properties(text: str) -> Iterator[tuple[str, str, str]]:
    """(name, "=" or "?=", value) of each line that is a property."""
    for line in text.splitlines():
        if line and line[0] not in "#{":  # a comment, or what Jinja has yet to read
            name, mark, value = line.split(" ", 2)
            assert mark in ("=", "?="), line
            yield name, mark, value


def classpath_text(path: Sequence[str]) -> str:
    """An argument file with a class path, an entry per line: within quotes, a backslash continues the
    line."""
    return '-cp "' + ":\\\n".join(path) + '"\n'


def _classpath_files(homes: InstallDirs, *conf: PurePath) -> dict[str, str]:
    """Both argument files. Conf folders come last: a class-data archive binds to the jars before it, and
    may hold no folder."""
    paths = {"hadoop": homes.hadoop_classpath, "hbase": homes.hbase_classpath}
    if homes.zookeeper_classpath:
        paths["zookeeper"] = homes.zookeeper_classpath
    return {
        f"{stack}{CLASSPATH_SUFFIX}": classpath_text((*path, *map(str, conf)))
        for stack, path in paths.items()
    }
