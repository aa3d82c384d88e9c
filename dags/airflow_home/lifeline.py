"""A pipe from parent to child whose end of file tells the child that its parent is gone or done.

A signal can be swallowed (Airflow turns SIGTERM inside a task into a failure of that task), and a
parent that is killed sends none.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

VARIABLE = "STUDY_LIFELINE_FD"
"""Names the child's end of the pipe."""


def watch(cut: Callable[[], None]) -> None:
    """In the child: call `cut`, in a thread of its own, once the parent's end is closed.

    A process started without a lifeline is not watched.
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
