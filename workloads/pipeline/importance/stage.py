"""Variant importance as a stage of a trial: genotypes in HDFS, and the forest on the cluster's YARN."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.clients.spark_on_yarn import driver_folder, spark_submit
from density_study.cluster.model.transport import Command
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
    node, folder = cluster.topology.client, driver_folder(cluster)
    submit, env = spark_submit(cluster, context.transport, raw)
    causal, result = planted(asked.variants, seed), folder / "importance.json"
    argv = (
        *context.transport.python(node), "-m", AGENT, "--folder", str(folder), "--node", node.name,
        "--output", str(raw / f"{CLIENT}.csv"), "--answers", str(raw / f"{CLIENT}-answers.csv"),
        "--events", str(raw), "--result", str(result), "--planted", *map(str, causal), "--submit",
        *submit, str(FOREST),
        f"hdfs://{cluster.endpoints.one('namenode.rpc')}{_path(asked, seed)}",
        "--variants", str(asked.variants), "--trees", str(asked.trees), "--seed", str(seed),
        "--top", str(len(causal)), "--result", str(result),
    )  # fmt: skip
    return run_client(context, Command(CLIENT, argv, env), timeout_s)


def _path(asked: Importance, seed: int) -> str:
    return f"{FOLDER}/genotypes-s{asked.samples}-v{asked.variants}-{seed}"
