"""mapred-site.xml: jobs are sized so that the same number of maps runs at every density."""

from __future__ import annotations

from cluster.model.memory import CONTAINER_HEAP_MIB, CONTAINER_MIB
from cluster.model.topology import Node
from cluster.render.blueprint import Blueprint
from cluster.render.jvm import ADD_OPENS, FAST_START, jit_flags

HISTORY_DIR = "/study/history"
"""In HDFS: `intermediate/<user>/*.jhist` is what the ApplicationMaster leaves of each job."""
NOBODYS_PORT = 1
"""Reserved for a service (tcpmux) that nothing offers any more; below what `Ports` hands out."""


def mapred_site(blueprint: Blueprint, node: Node) -> dict[str, str]:
    properties = {
        **_containers(blueprint),
        **_scheduling(blueprint),
        **_history(),
        "mapreduce.application.classpath": f"{blueprint.homes.hadoop}/lib/*",
    }
    if "worker" in node.roles:
        # Here and not in yarn-site.xml, which is read before Hadoop's own mapred-default.xml.
        port = blueprint.ports.port(node, "nodemanager.shuffle")
        properties["mapreduce.shuffle.port"] = str(port)
    if node.roles == ("client",):
        properties |= _no_history_server(node)
    return properties


def _containers(blueprint: Blueprint) -> dict[str, str]:
    heap = f"-Xmx{CONTAINER_HEAP_MIB}m"
    java = " ".join(
        (heap, "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Duser.language=en", *ADD_OPENS)
    )
    measured = " ".join((java, *jit_flags(blueprint.timeout_scale)))
    return {
        "mapreduce.map.memory.mb": str(CONTAINER_MIB),
        "mapreduce.reduce.memory.mb": str(CONTAINER_MIB),
        "yarn.app.mapreduce.am.resource.mb": str(CONTAINER_MIB),
        "mapreduce.map.java.opts": measured,
        "mapreduce.reduce.java.opts": measured,
        "yarn.app.mapreduce.am.command-opts": " ".join((java, *FAST_START)),
        "mapreduce.task.io.sort.mb": "16",  # TestDFSIO's maps emit five pairs each
        "mapreduce.reduce.shuffle.parallelcopies": "2",
    }


def _scheduling(blueprint: Blueprint) -> dict[str, str]:
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.job.ubertask.enable": "false",
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.speculative": "false",
        # Measurements are not retried: a failed map fails the trial.
        "mapreduce.map.maxattempts": "1",
        "mapreduce.reduce.maxattempts": "1",
        # The reduce starts when all maps have ended, and takes no map's container.
        "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": blueprint.beat_ms(200),
        "mapreduce.client.progressmonitor.pollinterval": blueprint.beat_ms(500),
        "mapreduce.client.completion.pollinterval": blueprint.beat_ms(500),
    }


def _history() -> dict[str, str]:
    return {
        "mapreduce.jobhistory.intermediate-done-dir": f"{HISTORY_DIR}/intermediate",
        "mapreduce.jobhistory.done-dir": f"{HISTORY_DIR}/done",
        "mapreduce.jobhistory.jhist.format": "json",  # binary by default; ours is to be read
        "yarn.app.mapreduce.am.staging-dir": "/study/staging",
    }


def _no_history_server(client: Node) -> dict[str, str]:
    """No JobHistoryServer runs. A client that finds a job finished and its ApplicationMaster gone asks one
    all the same; it is to be refused, once, with an error. Asked on its own address, so that no firewall
    leaves it without an answer. An empty address would be worse: the client would then take every
    such job for a success, failed ones among them.
    """
    return {
        "mapreduce.jobhistory.address": f"{client.address}:{NOBODYS_PORT}",
        # Of the history server alone: an ApplicationMaster is asked until YARN says that it is gone.
        "yarn.app.mapreduce.client.max-retries": "1",
    }
