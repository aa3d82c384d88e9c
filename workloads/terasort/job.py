"""Command lines of the three jobs. Pure.

Source: `org.apache.hadoop.examples.terasort`, Hadoop 3.4.2. They run as `hadoop jar` does, by RunJar.
"""

from __future__ import annotations

from collections.abc import Iterator

from density_study.cluster.model.topology import AnyTopology, Topology
from density_study.workloads.terasort.test_case import TeraSortTestCase
from density_study.workloads.testdfsio.job import on_existing

SORT_BUFFER = "mapreduce.task.io.sort.mb"
HEAP_PER_BUFFER = 3
MAX_BUFFER_MIB = 2047


def generate_arguments(
    test_case: TeraSortTestCase, topology: AnyTopology, folder: str
) -> tuple[str, ...]:
    settings = {"mapreduce.job.maps": test_case.files}
    return ("teragen", *_settings(topology, settings), str(test_case.rows), folder)


def sort_arguments(
    test_case: TeraSortTestCase, topology: AnyTopology, source: str, target: str
) -> tuple[str, ...]:
    settings = {
        "mapreduce.job.reduces": test_case.reduces,
        "mapreduce.terasort.output.replication": test_case.output_copies,
        **_buffer(topology),
    }
    return ("terasort", *_settings(topology, settings), source, target)


def validate_arguments(topology: AnyTopology, target: str, report: str) -> tuple[str, ...]:
    return ("teravalidate", *_settings(topology, {}), target, report)


def _settings(topology: AnyTopology, own: dict[str, int]) -> Iterator[str]:
    for name, value in {**on_existing(topology.existing), **own}.items():
        yield "-D"
        yield f"{name}={value}"


def _buffer(topology: AnyTopology) -> dict[str, int]:
    """A third of a map's heap, unless the study sets it: the default of our clusters is for jobs that emit
    little. An existing cluster keeps its own."""
    if not isinstance(topology, Topology):
        return {}
    given = topology.variant.configuration.properties.get("mapred-site", {})
    if SORT_BUFFER in given:
        return {}
    heap_mib = topology.variant.sizing.container_heap_mib
    return {SORT_BUFFER: min(MAX_BUFFER_MIB, heap_mib // HEAP_PER_BUFFER)}
