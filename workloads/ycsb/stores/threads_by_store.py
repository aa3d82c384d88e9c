"""Threads of clients by store: stores saturate at different numbers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from density_study.cluster.model.store import stores
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.values import Frozen

MAX_THREADS = 10_000
_EXAMPLE = "write a number by store, like {hbase: 16}"


@dataclass(frozen=True)
class ByStore:
    """Threads of one test case on each store that runs it, by the store's name, in the study's order."""

    numbers: tuple[tuple[str, int], ...]

    @property
    def most(self) -> int:
        return max(threads for _, threads in self.numbers)

    def of(self, store: str) -> int | None:
        """None: the store does not run the test case."""
        return dict(self.numbers).get(store)


def _read(value: object) -> ByStore:
    """As a study writes it. FaultyKeyError for what is no number of threads, or no store."""
    if isinstance(value, ByStore):
        return value
    if not isinstance(value, dict) or not value:
        raise FaultyKeyError(_EXAMPLE)
    for name, threads in value.items():
        if name not in stores():
            raise FaultyKeyError(f"there is no store {name!r}; known are {', '.join(stores())}")
        if type(threads) is not int or not 1 <= threads <= MAX_THREADS:
            raise FaultyKeyError(
                f"{threads!r} is no number of threads from 1 to {MAX_THREADS:,}", name
            )
    return ByStore(tuple(value.items()))


ThreadsByStore = Annotated[
    ByStore,
    BeforeValidator(_read),
    PlainSerializer(lambda value: dict(value.numbers)),
    WithJsonSchema(
        {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {
                name: {"type": "integer", "minimum": 1, "maximum": MAX_THREADS} for name in stores()
            },
        }
    ),
]


class OfStore(Frozen):
    """The threads of a test case on one store; null: it does not run there. Its servers are warmed up by
    `most`, the largest number of any test case."""

    store: str
    threads: int | None = Field(gt=0)
    most: int = Field(gt=0)


def kind(value: Any) -> str:
    """The tag of an element of `threads`, for pydantic."""
    return "(by store)" if isinstance(value, dict | ByStore) else "(number)"


def check_alike(choices: Sequence[int | ByStore]) -> None:
    """FaultyKeyError unless all are numbers, or all by store."""
    if len({kind(one) for one in choices}) > 1:
        raise FaultyKeyError(
            "write threads by store in every element, or in none: a number would be that of every store",
            "threads",
        )


def extreme(
    choices: Iterable[int | ByStore], pick: Callable[[Iterable[int]], int]
) -> int | ByStore:
    """The most or the fewest threads of all elements, on each store that any names."""
    numbers, by_store = list[int](), dict[str, list[int]]()
    for one in choices:
        if isinstance(one, int):
            numbers.append(one)
        else:
            for name, threads in one.numbers:
                by_store.setdefault(name, []).append(threads)
    if numbers:
        return pick(numbers)
    return ByStore(tuple((name, pick(found)) for name, found in by_store.items()))


def threads_knobs(threads: int | ByStore, choices: Sequence[int | ByStore]) -> dict[str, Any]:
    """What a test case keeps of its threads, and of those of all test cases."""
    most = extreme(choices, max)
    if isinstance(most, int) or isinstance(threads, int):
        every = most if isinstance(most, int) else most.most
        return {
            "threads": threads if isinstance(threads, int) else threads.most,
            "warm_up_threads": every,
        }
    return {
        "threads": threads.most,
        "warm_up_threads": most.most,
        "threads_by_store": tuple(
            OfStore(store=name, threads=threads.of(name), most=number)
            for name, number in most.numbers
        ),
    }
