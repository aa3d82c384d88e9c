"""yarn-site.xml and capacity-scheduler.xml."""

from __future__ import annotations

from cluster.model.memory import CONTAINER_MIB
from cluster.model.topology import Node
from cluster.render.blueprint import Blueprint

PASSED_TO_CONTAINERS = ("JAVA_HOME", "LANG", "STUDY_TAG", "STUDY_NODE")
"""So that tear-down finds every container by its tag, and its CPU is counted to its node."""


def yarn_site(blueprint: Blueprint, node: Node) -> dict[str, str]:
    properties = _common(blueprint)
    if "master" in node.roles:
        properties |= _resourcemanager(blueprint, node)
    if "worker" in node.roles:
        properties |= _nodemanager(blueprint, node)
    return properties


def capacity_scheduler(blueprint: Blueprint) -> dict[str, str]:
    prefix = "yarn.scheduler.capacity"
    properties = {
        f"{prefix}.root.queues": "default",
        f"{prefix}.root.default.capacity": "100",
        f"{prefix}.maximum-am-resource-percent": "1.0",
        f"{prefix}.resource-calculator": (
            "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator"  # memory alone
        ),
        # One container a heartbeat: maps spread over the nodes instead of filling the first.
        f"{prefix}.per-node-heartbeat.maximum-container-assignments": "1",
    }
    if blueprint.shared_address:
        # Nodes cannot be told apart by host: waiting for a "local" one would only delay.
        properties[f"{prefix}.node-locality-delay"] = "-1"
    return properties


def _common(blueprint: Blueprint) -> dict[str, str]:
    master, ports = blueprint.topology.master, blueprint.ports
    return {
        "yarn.resourcemanager.hostname": master.address,
        "yarn.resourcemanager.address": ports.address(master, "resourcemanager.rpc"),
        "yarn.resourcemanager.scheduler.address": ports.address(
            master, "resourcemanager.scheduler"
        ),
        "yarn.resourcemanager.resource-tracker.address": ports.address(
            master, "resourcemanager.tracker"
        ),
        "yarn.resourcemanager.admin.address": ports.address(master, "resourcemanager.admin"),
        "yarn.resourcemanager.webapp.address": ports.address(master, "resourcemanager.http"),
        "yarn.resourcemanager.connect.retry-interval.ms": blueprint.beat_ms(200),
        "yarn.application.classpath": f"{blueprint.homes.hadoop}/lib/*",
    }


def _resourcemanager(blueprint: Blueprint, node: Node) -> dict[str, str]:
    properties = {
        # By default below /tmp, where tear-down must not look: others' files lie there too.
        "yarn.node-attribute.fs-store.root-dir": f"file://{blueprint.data(node)}/node-attribute",
        "yarn.resourcemanager.scheduler.class": (
            "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
        ),
        "yarn.scheduler.minimum-allocation-mb": str(CONTAINER_MIB),
        "yarn.scheduler.maximum-allocation-mb": str(_largest_container(blueprint)),
        # A job of seconds must not spend them waiting for heartbeats.
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": blueprint.beat_ms(200),
        # Jobs come from the client over RPC; the web port must not start programs for whoever asks.
        "yarn.webapp.enable-rest-app-submissions": "false",
        "yarn.resourcemanager.am.max-attempts": "1",  # a repeat is a new trial, not a second try
        "yarn.resourcemanager.recovery.enabled": "false",
    }
    if blueprint.shared_address:
        properties["yarn.scheduler.include-port-in-node-name"] = "true"
    return properties


def _largest_container(blueprint: Blueprint) -> int:
    return max(CONTAINER_MIB, *(worker.container_mib for worker in blueprint.topology.workers))


def _nodemanager(blueprint: Blueprint, node: Node) -> dict[str, str]:
    ports, data = blueprint.ports, blueprint.data(node)
    return {
        "yarn.nodemanager.hostname": node.address,
        "yarn.nodemanager.address": ports.address(node, "nodemanager.rpc"),
        "yarn.nodemanager.localizer.address": ports.address(node, "nodemanager.localizer"),
        "yarn.nodemanager.webapp.address": ports.address(node, "nodemanager.http"),
        "yarn.nodemanager.local-dirs": f"{data}/nodemanager",
        "yarn.nodemanager.log-dirs": str(blueprint.places.log(node, "containers", "d")),
        "yarn.nodemanager.log.retain-seconds": "31536000",  # logs belong to the record
        "yarn.nodemanager.resource.memory-mb": str(node.container_mib),
        # Memory alone decides how many run: the calculator ignores cores, these must not limit.
        "yarn.nodemanager.resource.cpu-vcores": str(max(node.container_mib // CONTAINER_MIB, 1)),
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        "yarn.nodemanager.env-whitelist": ",".join(PASSED_TO_CONTAINERS),
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.aux-services.mapreduce_shuffle.class": (
            "org.apache.hadoop.mapred.ShuffleHandler"
        ),
    }
