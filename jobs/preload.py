"""Start Spark and import slow libraries in the background, while the process does something else.

Spark's JVM, Great Expectations and scipy each take seconds to start, and can use different cores.
Keep imports here minimal: callers start Spark first and import the rest in parallel.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread

from cluster.model.errors import StudyError
from jobs.spark.session import spark_session

_LATER = ("analysis.validity.verdicts", "analysis.summarise.summarise")


def begin() -> None:
    """Start both in the background and return at once. Later uses wait for them and get their errors."""
    start_spark()
    Thread(target=_load, daemon=True).start()


def start_spark() -> None:
    """Start Spark in the background if it is not running; return at once."""
    Thread(target=_start, daemon=True).start()


def _start() -> None:
    with suppress(StudyError):
        spark_session()


def _load() -> None:
    for name in _LATER:
        import_module(name)
