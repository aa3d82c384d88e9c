"""Compactions without HBase's limit while a large table settles: nothing is measured then.

By default, a RegionServer compacts 50 to 100 MiB/s however fast its drives are, so that data larger than
memory settle for hours. The store files are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.model.errors import HostLostError, StudyError
from density_study.cluster.model.topology import AnyTopology, Topology
from density_study.cluster.providers.provider import node_paths
from density_study.cluster.render.conf_files import with_properties
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.loading import COMPACTION_BOUND
from density_study.workloads.ycsb.table_tool import table_tool
from density_study.workloads.ycsb.tables import Tables
from density_study.workloads.ycsb.test_case import YcsbTestCase

WORTH_S = 60.0
"""Compactions that take longer than this with the limit are run without it; two JVMs start for that."""
_BOUNDS = (COMPACTION_BOUND, COMPACTION_BOUND.replace("lower", "higher"))
_NO_LIMIT_BYTES_S = 2**40
FILE = "hbase-site.xml"


def is_worth_it(topology: AnyTopology, test_case: YcsbTestCase) -> bool:
    """Whether the limit would cost much, on a cluster that is not of others."""
    return isinstance(topology, Topology) and test_case.limited_compaction_s(topology) > WORTH_S


@contextmanager
def unthrottled(context: TrialContext) -> Iterator[None]:
    """For as long as the context lasts. StudyError if the limit cannot be lifted everywhere, or not be put
    back."""
    kept = _kept(context)
    # first: perhaps only a part of the servers gets it
    Tables.of(context.cluster).remember_limit(lifted=True)
    try:
        _set(context, {name: without_limit(text) for name, text in kept.items()})
        table_tool(context, "without-limit", ("reload",))
        yield
    finally:
        put_limit_back(context)


def put_limit_back(context: TrialContext) -> None:
    """Whatever an earlier call of `unthrottled` on this cluster has not put back. StudyError if that fails:
    no trial would be comparable."""
    tables = Tables.of(context.cluster)
    if not tables.limit_is_lifted:
        return
    try:
        _set(context, _kept(context))
        table_tool(context, "with-limit", ("reload",))
    except HostLostError:
        raise
    except StudyError as error:
        raise StudyError(
            f"the limit of compactions could not be put back: {error.what}",
            error.where,
            "the next trial of the build tries again; or measure the build again: `study run` resumes it.",
        ) from error
    tables.remember_limit(lifted=False)


def without_limit(text: str) -> str:
    """The text of hbase-site.xml, with bounds that no drive reaches."""
    return with_properties(text, dict.fromkeys(_BOUNDS, str(_NO_LIMIT_BYTES_S)))


def _kept(context: TrialContext) -> dict[str, str]:
    """The file of each worker as it was rendered."""
    nodes = context.cluster.site.root.absolute() / "conf" / "nodes"
    return {
        worker.name: (nodes / worker.name / FILE).read_text(encoding="utf-8")
        for worker in context.cluster.built.workers
    }


def _set(context: TrialContext, texts: dict[str, str]) -> None:
    topology = context.cluster.built
    places = node_paths(context.cluster.site, topology)
    for worker in topology.workers:
        there = Path(places.conf_of(worker)) / FILE
        context.transport.put(worker, texts[worker.name], there)
