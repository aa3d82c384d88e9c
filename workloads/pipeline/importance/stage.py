"""Variant importance as a stage of a trial: genotypes in HDFS, and the forest on the cluster's YARN."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.clients.launchers import client_conf
from density_study.cluster.clients.spark_on_yarn import spark_home, spark_options
from density_study.cluster.model.memory import CLIENT_HEAP_MIB
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import node_paths
from density_study.workloads.base.client_run import run_client
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.pipeline.importance.genotypes import matrix, planted
from density_study.workloads.pipeline.test_case import Importance

AGENT = "density_study.workloads.pipeline.importance.agent"
CLIENT = "pipeline-importance"
FOLDER = "/study/pipeline"
FOREST = Path(__file__).with_name("forest.py")
"""The program is named by its path, because it imports Spark and nothing may import it."""


def put_genotypes(context: TrialContext, asked: Importance, seed: int) -> None:
    """Make the genotypes and write them to HDFS, unless a trial of this build has done so."""
    hdfs, path = Hdfs(context.cluster), _path(asked, seed)
    if hdfs.glob(path):
        return
    with TemporaryDirectory() as scratch:
        made = Path(scratch) / "genotypes"
        made.write_bytes(matrix(asked.samples, asked.variants, seed))
        hdfs.put(made, path)


def find_variants(
    context: TrialContext, asked: Importance, seed: int, timeout_s: float
) -> ClientRun:
    """Submit the forest, and wait for its result."""
    cluster, raw = context.cluster, context.record.raw
    node = cluster.topology.client
    folder = node_paths(cluster.site, cluster.topology).data[node.name] / "pipeline"
    home, result = spark_home(), folder / "importance.json"
    options = spark_options(cluster) | {
        "spark.driver.memory": f"{CLIENT_HEAP_MIB}m",
        "spark.driver.host": node.address,
        "spark.driver.bindAddress": node.address,
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder),
        # a container has no other place to write to
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": raw.absolute().as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }
    causal = planted(asked.variants, seed)
    argv = (
        *context.transport.python(node), "-m", AGENT, "--folder", str(folder), "--node", node.name,
        "--output", str(raw / f"{CLIENT}.csv"), "--answers", str(raw / f"{CLIENT}-answers.csv"),
        "--events", str(raw), "--result", str(result), "--planted", *map(str, causal), "--submit",
        str(home / "bin" / "spark-submit"),
        *(word for name, value in options.items() for word in ("--conf", f"{name}={value}")),
        str(FOREST), f"hdfs://{cluster.endpoints.one('namenode.rpc')}{_path(asked, seed)}",
        "--variants", str(asked.variants), "--trees", str(asked.trees), "--seed", str(seed),
        "--top", str(len(causal)), "--result", str(result),
    )  # fmt: skip
    conf = str(client_conf(cluster))
    env = {
        "HADOOP_CONF_DIR": conf,
        "YARN_CONF_DIR": conf,
        "JAVA_HOME": str(cluster.java_home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": node.address,
        "TMPDIR": str(folder),
        "PYSPARK_PYTHON": context.transport.python(node)[0],
        "PATH": os.defpath,
    }
    return run_client(context, Command(CLIENT, argv, env), timeout_s)


def _path(asked: Importance, seed: int) -> str:
    return f"{FOLDER}/genotypes-s{asked.samples}-v{asked.variants}-{seed}"
