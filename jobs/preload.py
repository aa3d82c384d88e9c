"""What a whole analysis will need, made ready while its process does something else.

To start Spark's JVM and to import Great Expectations and scipy take seconds each, of different cores.
What is imported here is little, so that who calls `start_spark` first imports the rest beside it.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread

from cluster.model.errors import StudyError
from jobs.spark.session import spark_session

_LATER = ("analysis.validity.verdicts", "analysis.summarise.summarise")


def begin() -> None:
    """Start both aside and return at once. Who needs one of them waits for it as ever, and sees its
    errors."""
    start_spark()
    Thread(target=_load, daemon=True).start()


def start_spark() -> None:
    """Start Spark aside, unless it was; return at once."""
    Thread(target=_start, daemon=True).start()


def _start() -> None:
    with suppress(StudyError):
        spark_session()


def _load() -> None:
    for name in _LATER:
        import_module(name)
