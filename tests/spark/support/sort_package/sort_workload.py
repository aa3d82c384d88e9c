"""A package that is not part of the project: a workload, a metric of any trial and a factor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from pydantic import Field

from density_study.cluster.model.variant import Variant
from density_study.workloads.base.metric import MetricKind
from density_study.workloads.base.parsing import Parsed, Quarantined
from density_study.workloads.base.reader import Reader, ReadFile
from density_study.workloads.base.rows import Facts, Row, Rows, exact_sum, metric, over, window_s
from density_study.workloads.base.test_case import TestCase, WorkloadSpec
from density_study.workloads.base.values import ClientFiles
from density_study.workloads.base.workload import Collected, Prepared, WorkloadKind
from density_study.workloads.study.factors.factor import Factor
from density_study.workloads.tables import Column, Table

RESULTS = Table(
    "sort_results",
    "What each client sorted.",
    ("trial", "client"),
    (
        Column("trial", "string", "", "name of the trial"),
        Column("client", "string", "", "client process"),
        Column("asked", "long", "", "rows that it was given"),
        Column("sorted", "long", "", "rows that it wrote in order"),
        Column("seconds", "double", "s", "time that it took"),
    ),
)


class SortTestCase(TestCase):
    workload: Literal["sort"] = "sort"
    rows: int

    @property
    def id(self) -> str:
        return f"sort-{self.rows}"

    @property
    def label(self) -> str:
        return f"Sort of {self.rows} rows"

    @property
    def mode_name(self) -> str:
        return "sort"

    @property
    def estimate_s(self) -> float:
        return 10.0

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        yield "sort-result", client.stdout


class SortSpec(WorkloadSpec):
    rows: tuple[int, ...] = Field(description="Rows to sort.")

    def test_cases(self) -> tuple[SortTestCase, ...]:
        return tuple(SortTestCase(rows=rows) for rows in self.rows)


class Sort:
    def prepare(self, context: Any, test_case: SortTestCase) -> Prepared:
        return Prepared(data_set_mib=0.0)

    def run(self, context: Any, test_case: SortTestCase) -> tuple[()]:
        return ()

    def collect(self, context: Any, test_case: SortTestCase, prepared: Prepared) -> Collected:
        return Collected()


class Result(NamedTuple):
    asked: int
    sorted: int
    seconds: float


def parse(data: bytes, file: str) -> Parsed[Result]:
    """Lines `sorted 990 of 1000 in 2.5 s`."""
    rows, bad = [], []
    for number, line in enumerate(data.decode().splitlines(), 1):
        match line.split():
            case ["sorted", done, "of", asked, "in", seconds, "s"]:
                rows.append(Result(int(asked), int(done), float(seconds)))
            case _:
                bad.append(Quarantined(file, number, "not a result", line[:200]))
    return Parsed(tuple(rows), len(rows), 0, tuple(bad))


def rows_of(result: Result, file: ReadFile) -> Iterator[tuple[Table, dict[str, Any]]]:
    yield RESULTS, {"client": file.subject, **result._asdict()}


def facts(rows: Rows) -> Facts:
    results = rows.of("sort_results")
    done = sum(row["sorted"] for row in results)
    rate = over(done, exact_sum(row["seconds"] for row in results))
    return Facts(
        [metric("sort_rate", "rows/s", rate)],
        {"work_share": over(done, sum(row["asked"] for row in results)), "rate_error": 0.0},
    )


SORT = WorkloadKind(
    name="sort",
    title="Sort",
    specs={"sort": SortSpec},
    test_case=SortTestCase,
    runner=Sort,
    metrics=(MetricKind("sort_rate", "rows/s", "sorted rows", "rows in order", "higher", "rates"),),
    rate="sort_rate",
    rate_words="sorted rows per second",
    rates_title="Sort throughput",
    rates_caption="Sorted rows per second, by density.",
    tables=(RESULTS,),
    readers={"sort-result": Reader(parse, rows_of)},
    facts=facts,
)


def window_metric(rows: Rows) -> Iterator[Row]:
    yield metric("window_length", "s", window_s(rows.trial))


WINDOW_LENGTH = MetricKind(
    "window_length", "s", "length of the window", "time that was measured", compute=window_metric
)


class Handlers(Factor[int]):
    """Threads of each RegionServer that answer requests."""

    name = "handlers"
    key = (tuple[int, ...] | None, Field(None, min_length=1, description="Handlers to compare."))

    def pairs(self, given: tuple[int, ...]) -> Iterator[tuple[str, int]]:
        for level in given:
            yield f"handlers-{level}", level

    def apply(self, variant: Variant, level: int) -> Variant:
        properties = dict(variant.configuration.properties)
        site = {**properties.get("hbase-site", {}), "hbase.regionserver.handler.count": str(level)}
        properties["hbase-site"] = site
        return replace(variant, configuration=replace(variant.configuration, properties=properties))


HANDLERS = Handlers()
