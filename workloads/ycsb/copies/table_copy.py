"""The copy of a loaded table, from which later builds of the run get theirs without a load (`load_once`).

After its first load the table's store files are copied to a folder of the client's machine, which outlives
builds and is removed with the run. A later build creates its table as before a load, bulk loads these files,
flushes and major-compacts. So HBase writes the store files anew, each on the server of its region, and where
regions and blocks lie differs from build to build as after a load.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from density_study.cluster.clients.client_commands import hadoop_command, java_command, serial
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.java_tools import TOOL_HEAP_MIB
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.stack import classpath, ensure
from density_study.cluster.state.events import (
    COPIES,
    BuildDestroyed,
    TableCopied,
    TableNotCopied,
    TablePutBack,
    TableState,
)
from density_study.cluster.state.journal import Journal
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.loading import SLOWEST_COMPACTION_MIB_S
from density_study.workloads.ycsb.properties import FAMILY, table_on
from density_study.workloads.ycsb.test_case import YcsbTestCase

Told = TypeVar("Told", TableCopied, TableNotCopied)
BULK_LOAD = "org.apache.hadoop.hbase.tool.BulkLoadHFilesTool"
FILES = "files"
SHELL = "org.apache.hadoop.fs.FsShell"
_MORE_FILES = "-Dhbase.mapreduce.bulkload.max.hfiles.perRegion.perFamily=100000"
"""A build with fewer regions gets files of several in each."""
ROOM = 2.0
"""Free space on the client's disk over the size of the copy, which leaves room for the study."""
SAME_SIZE, SAME_LOCALITY = 0.02, 0.02
"""Store files of equal rows differ in size by the borders of their blocks."""


def put_back(context: TrialContext, test_case: YcsbTestCase) -> bool:
    """Fill the new, empty table from its copy; False if there is none. StudyError if that fails."""
    copied = _copy_of(context, test_case)
    if copied is None:
        return False
    began_s = time.monotonic()
    table, there = table_on(context.cluster, test_case), f"/{copied.name}"
    _run(
        context,
        _shell(context, "table-put-back", "-put", f"{copied.path}/{FILES}", there),
        copied.state.mib,
    )
    _run(context, _bulk_load(context, there, table), copied.state.mib)
    context.journal.record(
        TablePutBack(tag=context.cluster.site.tag, name=copied.name, seconds=time.monotonic() - began_s)
    )  # fmt: skip
    return True


def keep_or_prove(
    context: TrialContext, test_case: YcsbTestCase, facts: Sequence[Mapping[str, Any]]
) -> None:
    """Copy the settled table, unless there is a copy: then prove that this build's table equals it. `facts`:
    answers of the verbs `count` and `state`, the last ones. StudyError names what differs."""
    state = state_of(*facts[-2:])
    copied = _copy_of(context, test_case)
    if copied is None:
        _copy(context, test_case, state)
    elif fault := difference(copied.state, state):
        raise StudyError(
            f"the table differs from the one that was loaded first: {fault}.",
            f"table {table_on(context.cluster, test_case)}",
            "run the study without load_once, and report this as a bug with the record.",
        )


def state_of(counted: Mapping[str, Any], facts: Mapping[str, Any]) -> TableState:
    regions = facts["regions"]
    weights = [max(region["store_file_mib"], 1) for region in regions]
    local = sum(w * region["locality"] for w, region in zip(weights, regions, strict=True))
    return TableState(
        rows=counted["rows"],
        regions=len(regions),
        servers=len(facts["servers"]),
        most_files=max(region["store_files"] for region in regions),
        mib=facts["store_file_mib"],
        locality=local / sum(weights),
    )


def difference(loaded: TableState, other: TableState) -> str:
    """In which respect `other` is not such a table as `loaded`, in words; empty: in none."""
    if loaded.rows != other.rows:
        return f"{other.rows:,} rows instead of {loaded.rows:,}"
    # variants differ in both
    if len({one.regions / one.servers for one in (loaded, other) if one.servers}) > 1:
        servers = f"{other.servers} instead of {loaded.servers} servers"
        return f"{other.regions} instead of {loaded.regions} regions on {servers}"
    if other.most_files > loaded.most_files:
        return f"a region has {other.most_files} store files instead of {loaded.most_files}"
    # each region's size is rounded down to whole MiB
    slack_mib = SAME_SIZE * loaded.mib + max(loaded.regions, other.regions)
    if abs(loaded.mib - other.mib) > slack_mib:
        return f"{other.mib:,} MiB of store files instead of {loaded.mib:,}"
    if other.locality < loaded.locality - SAME_LOCALITY:
        return f"{other.locality:.0%} of its blocks are local instead of {loaded.locality:.0%}"
    return ""


def _copy(context: TrialContext, test_case: YcsbTestCase, state: TableState) -> None:
    """A copy that fails costs later builds a load, and this trial nothing. It leaves no folder, and no later
    build tries again: that takes as much disk and time each time. Room may come."""
    cluster, journal = context.cluster, context.journal
    site, name, client = _site(context), _name(context, test_case), cluster.topology.client
    former = _last(journal, site, name, TableNotCopied)
    if former is not None and former.tried:
        return
    provider, topology = provider_of(cluster.topology), cluster.topology
    data = provider.node_paths(site, topology).data[client.name]
    folder = data.with_name(f"{name}-{cluster.site.root.name}")
    free_mib = context.transport.act(client, "free-mib", str(folder))
    if free_mib < ROOM * state.mib:
        why = f"{free_mib:,} MiB are free for {folder}, and it takes {state.mib:,}"
        journal.record(TableNotCopied(tag=site.tag, name=name, why=why, tried=False))
        return
    began_s = time.monotonic()
    journal.intend("build", site.tag, build=COPIES, provider=provider.name, ports=[])
    try:
        provider.make_kept_folder(site, client, folder, f"{FILES}/{FAMILY}", journal)
        store_files = f"/hbase/data/default/{table_on(cluster, test_case)}/*/{FAMILY}/*"
        get = _shell(context, "table-copy", "-get", store_files, str(folder / FILES / FAMILY))
        _run(context, get, state.mib)
    except (StudyError, OSError) as error:
        why = error.what if isinstance(error, StudyError) else str(error)
        journal.record(TableNotCopied(tag=site.tag, name=name, why=why, tried=True))
        # the disk, or the host, has just failed: tear-down tries again
        with contextlib.suppress(OSError, StudyError):
            provider.remove_kept_folder(site, client, folder, journal)
        return
    seconds = time.monotonic() - began_s
    journal.record(
        TableCopied(tag=site.tag, name=name, path=str(folder), state=state, seconds=seconds)
    )


def _copy_of(context: TrialContext, test_case: YcsbTestCase) -> TableCopied | None:
    """The copy of the table that exists now."""
    if not test_case.is_copied_on(context.cluster.topology):
        return None
    return _last(context.journal, _site(context), _name(context, test_case), TableCopied)


def _last(journal: Journal, site: Site, name: str, kind: type[Told]) -> Told | None:
    """The last event of the copy `name` since copies were torn down."""
    found: Told | None = None
    for event in journal.events(kind, BuildDestroyed):
        if isinstance(event, kind) and event.name == name:
            found = event
        elif isinstance(event, BuildDestroyed) and event.tag == site.tag:
            found = None
    return found


def _site(context: TrialContext) -> Site:
    own = context.cluster.site
    return Site(own.root.parent / COPIES, f"{own.tag.rpartition('/')[0]}/{COPIES}")


def _name(context: TrialContext, test_case: YcsbTestCase) -> str:
    """For the copy."""
    return test_case.copy_on(context.cluster.built)


def _shell(context: TrialContext, name: str, *arguments: str) -> Command:
    return hadoop_command(context.cluster, name, SHELL, arguments)


def _bulk_load(context: TrialContext, folder: str, table: str) -> Command:
    path = classpath(ensure("hbase", context.cluster.built.variant.versions))
    arguments = (_MORE_FILES, folder, table)
    return java_command(
        context.cluster, "table-bulk-load", path, BULK_LOAD, arguments, serial(TOOL_HEAP_MIB)
    )


def _run(context: TrialContext, command: Command, mib: float) -> None:
    limit_s = 600.0 + mib / SLOWEST_COMPACTION_MIB_S
    run = run_client(context, command, limit_s, folder="logs")
    require_success(context, run, "copying the table")
