"""A pipe from parent to child. End of file on it means that the parent has ended or wants the child to end.

A signal is not enough: Airflow turns a SIGTERM inside a task into a failure of that task, and a killed
parent sends no signal.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

VARIABLE = "STUDY_LIFELINE_FD"
"""Environment variable with the file descriptor of the child's end of the pipe."""


def watch(cut: Callable[[], None]) -> None:
    """In the child: call `cut`, in a separate thread, when the parent's end closes.

    Does nothing in a process that was started without a lifeline.
    """
    named = os.environ.pop(VARIABLE, None)
    if named is None:
        return
    descriptor = int(named)
    os.set_inheritable(descriptor, False)

    def wait() -> None:
        os.read(descriptor, 1)
        cut()

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
