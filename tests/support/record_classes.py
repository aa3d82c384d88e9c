"""Records which classes daemons and clients load, for the class-data archives.

python -m tests.support.record_classes        # after a change of a stack's version; review the
sizes

Brings a small cluster up, runs a client of each kind on it, and writes classes.txt.gz beside each
stack's pom.xml.
"""

from __future__ import annotations

import dataclasses
import gzip
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from density_study.cluster.clients.client_commands import hadoop_command, java_command, serial
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Cluster, Site
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.local.provider import LocalProvider
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.stack import classpath, ensure
from density_study.cluster.stack.archive import CLASSES
from density_study.cluster.stack.recipes import recipe_of
from density_study.cluster.state.journal import Journal
from density_study.workloads.ycsb.stores.ready import row_written_and_read
from tests.live.support.builds import open_build, topology

STACKS = ("hadoop", "hbase", "ycsb")


class RecordingTransport(LocalTransport):
    """Makes every JVM list the classes it loads: <logs>/<stack>-<node>-<name>.classes."""

    lists = Path()

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        name = f"{stack_of(command)}-{node.name}-{command.name}.classes"
        java, *arguments = command.argv
        # Without an archive: classes mapped from one may be missing from the list.
        arguments = [
            argument for argument in arguments if not argument.startswith("-XX:SharedArchiveFile")
        ]
        argv = (java, f"-XX:DumpLoadedClassList={self.lists / name}", *arguments)
        return super().start(node, dataclasses.replace(command, argv=argv), stdout, stderr)


class RecordingProvider(LocalProvider):
    def transport(self, site: Site, journal: Journal) -> RecordingTransport:
        return RecordingTransport(site.tag, journal)


def stack_of(command: Command) -> str:
    for stack in ("hadoop", "hbase"):
        if any(argument.endswith(f"/{stack}.classpath") for argument in command.argv):
            return stack
    return "ycsb"


def record(folder: Path) -> None:
    RecordingTransport.lists = folder
    site, journal = open_build(folder, os.getpid())
    try:
        cluster = bring_up(
            site,
            topology(folder),
            ensure_stacks(),
            journal,
            final_check=lambda cluster: row_written_and_read(cluster, journal),
        )
        for command in clients(cluster, folder):
            run(cluster, journal, command, folder)
    finally:
        tear_down(site, journal)


def clients(cluster: Cluster, folder: Path) -> Iterable[Command]:
    dfsio = ("-write", "-nrFiles", "1", "-size", "1MB", "-resFile", f"{folder}/results")
    yield hadoop_command(
        cluster, "dfsio", "org.apache.hadoop.fs.TestDFSIO", dfsio,
        jvm_flags=("-Dtest.build.data=/record",),
    )  # fmt: skip
    ycsb, memory = classpath(ensure("ycsb")), serial(512)
    create = ("create", "--table", "usertable", "--family", "f", "--regions", "2")
    settle = ("flush-compact-settle", "--table", "usertable", "+", "state", "--table", "usertable")
    tool = "org.densitystudy.table.TableTool"
    yield java_command(cluster, "create", ycsb, tool, create, memory)
    for phase in ("-load", "-t"):
        yield java_command(
            cluster,
            f"ycsb{phase}",
            ycsb,
            "site.ycsb.Client",
            (phase, *ycsb_options(folder)),
            memory,
        )
    yield java_command(cluster, "settle", ycsb, tool, settle, memory)


def ycsb_options(folder: Path) -> tuple[str, ...]:
    properties = {
        "columnfamily": "f",
        "recordcount": "1000",
        "operationcount": "1000",
        "readproportion": "0.4",
        "insertproportion": "0.3",
        "scanproportion": "0.3",
        "workload": "site.ycsb.workloads.CoreWorkload",
        "measurementtype": "hdrhistogram",
        "hdrhistogram.fileoutput": "true",
        "hdrhistogram.output.path": f"{folder}/hdr-",
    }
    options = [part for key, value in properties.items() for part in ("-p", f"{key}={value}")]
    return ("-db", "org.densitystudy.ycsb.HBaseClient", "-threads", "2", "-s", *options)


def run(cluster: Cluster, journal: Journal, command: Command, folder: Path) -> None:
    transport = RecordingProvider().transport(cluster.site, journal)
    out, err = (folder / f"{command.name}.{suffix}" for suffix in ("out", "err"))
    process = transport.start(cluster.topology.client, command, out, err)
    if transport.wait(process, 300) != 0:
        raise SystemExit(f"{command.name} failed:\n{err.read_text()[-2000:]}")


def merged(lists: Iterable[Path]) -> str:
    """Lines of all lists, each once; call sites of lambdas (@...) after the classes they are in."""
    lines = [line for path in lists for line in path.read_text().splitlines() if line[:1] != "#"]
    once = sorted(dict.fromkeys(lines), key=lambda line: line.startswith("@"))
    return "".join(f"{line}\n" for line in once)


def main() -> None:
    LocalProvider.transport = RecordingProvider.transport  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory(prefix="record-classes-") as folder:
        record(Path(folder))
        for stack in STACKS:
            text = merged(sorted(Path(folder).glob(f"{stack}-*.classes")))
            to = recipe_of(stack).directory / CLASSES
            to.write_bytes(gzip.compress(text.encode(), mtime=0))
            print(f"{to}: {text.count(chr(10))} lines, {to.stat().st_size} bytes")


if __name__ == "__main__":
    main()
