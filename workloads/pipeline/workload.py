"""The pipeline's trial: make genomes on each worker node, take them through the stages, compare the variants.

Nodes work at the same time, each on genomes of its own, in a folder of its own on its disk, which goes with
the build. Where a study asks for it, each node loads its variants into one table of the cluster's HBase, and
variant importance follows on the YARN of all nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import node_paths, remote_path
from density_study.cluster.stack import ensure, stack_home
from density_study.workloads.base.client_run import require_success, run_clients
from density_study.workloads.base.cold import evicted
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.pipeline.faults import answer_faults, importance_faults, stage_faults
from density_study.workloads.pipeline.importance.stage import CLIENT as IMPORTANCE_CLIENT
from density_study.workloads.pipeline.importance.stage import find_variants, put_genotypes
from density_study.workloads.pipeline.machine.files import sample
from density_study.workloads.pipeline.test_case import PipelineTestCase
from density_study.workloads.pipeline.variant_table import create_table, dump_command, load_command

AGENT = "density_study.workloads.pipeline.machine.agent"
LEAST_TIMEOUT_S = 3600.0
TIMES_ESTIMATE = 20


class PipelineWorkload:
    def prepare(self, context: TrialContext, test_case: PipelineTestCase) -> Prepared:
        made = [
            "make", "--reference", test_case.reference, "--bases", str(test_case.bases),
            "--coverage", str(test_case.coverage), "--seed", str(test_case.seed),
        ]  # fmt: skip
        for stack in test_case.needs_stacks:
            ensure(stack, context.cluster.client_versions)
        for run in _on_workers(context, test_case, "make", made, folder="logs"):
            require_success(context, run, "making the genomes")
        if test_case.importance:
            put_genotypes(context, test_case.importance, test_case.seed)
        if test_case.variant_load:
            create_table(context, test_case.bases)
        return Prepared(data_set_mib=test_case.data_mib, cold=evicted(context))

    def run(self, context: TrialContext, test_case: PipelineTestCase) -> tuple[ClientRun, ...]:
        stages = [
            "run",
            "--threads",
            str(test_case.threads),
            "--concurrent",
            str(test_case.concurrent),
        ]
        if test_case.gatk_stages:
            java = context.cluster.client_java_home / "bin" / "java"
            home = remote_path(context.cluster.topology, stack_home("gatk"))
            stages += ["--java", str(java), "--gatk-home", home, "--gatk", *test_case.gatk_stages]
        runs = _on_workers(
            context,
            test_case,
            "",
            stages,
            "",
            store=lambda node, _: load_command(context.cluster, node),
        )
        if test_case.importance is None or any(run.exit_code != 0 for run in runs):
            return runs
        timeout_s = _timeout_s(test_case)
        return (*runs, find_variants(context, test_case.importance, test_case.seed, timeout_s))

    def collect(
        self, context: TrialContext, test_case: PipelineTestCase, prepared: Prepared
    ) -> Collected:
        raw = context.record.raw
        clients = [_client(node) for node, _ in test_case.numbers(context.cluster.topology)]
        faults = stage_faults(raw, test_case, clients)
        if not faults and test_case.importance:
            faults = importance_faults(raw, IMPORTANCE_CLIENT)
        if faults:
            return Collected(faults=faults)
        compared = _on_workers(
            context, test_case, "compare", ["compare"], "-answers",
            store=lambda node, samples: dump_command(context.cluster, node, samples),
        )  # fmt: skip
        for run in compared:
            require_success(context, run, "comparing the variants with those that were planted")
        return Collected(faults=answer_faults(raw, test_case, clients))


def _on_workers(
    context: TrialContext,
    test_case: PipelineTestCase,
    act: str,
    arguments: Sequence[str],
    output: str | None = None,
    folder: str = "raw",
    store: Callable[[Node, Sequence[str]], Command] | None = None,
) -> tuple[ClientRun, ...]:
    """Run the agent on all worker nodes at once. output: how the name of its file goes on. store: what the
    agent does with the variant store, by the node and its samples."""
    commands = []
    for node, numbers in test_case.numbers(context.cluster.topology):
        client = _client(node)
        argv = [
            *context.transport.python(node), "-m", AGENT, *arguments, "--node", node.name,
            "--folder", str(_folder(context, node) / test_case.data_set),
            "--genomes", *map(str, numbers),
        ]  # fmt: skip
        if output is not None:
            path = context.record.raw / f"{client}{output}.csv"
            argv += ["--output", str(context.at(path, node))]
        env: Mapping[str, str] = {}
        if store is not None and test_case.variant_load:
            program = store(node, [sample(number) for number in numbers])
            argv += ["--store", *program.argv]
            env = program.env
        name = f"{client}-{act}" if act else client
        commands.append((node, Command(name, tuple(argv), env)))
    return run_clients(context, commands, _timeout_s(test_case), folder)


def _timeout_s(test_case: PipelineTestCase) -> float:
    return max(LEAST_TIMEOUT_S, TIMES_ESTIMATE * test_case.estimate_s)


def _client(node: Node) -> str:
    return f"pipeline-{node.name}"


def _folder(context: TrialContext, node: Node) -> PurePath:
    places = node_paths(context.cluster.site, context.cluster.topology)
    return places.data[node.name] / "pipeline"
