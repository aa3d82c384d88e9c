"""What a whole analysis will need, made ready while its process reads records.

To start Spark's JVM and to import Great Expectations and scipy take seconds each, of different cores.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import Thread

from cluster.errors import StudyError
from jobs.session import spark_session

_LATER = ("analysis.validity", "analysis.summarise")


def begin() -> None:
    """Start both aside and return at once. Who needs one of them waits for it as ever, and sees its
    errors."""
    for act in (_start, _load):
        Thread(target=act, daemon=True).start()


def _start() -> None:
    with suppress(StudyError):
        spark_session()


def _load() -> None:
    for name in _LATER:
        import_module(name)
