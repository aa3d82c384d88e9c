"""`python -m density_study.dags.notify run ROOT REASON` and `... test SPEC RESULT`.

`study run` and `study notify` start this module with Airflow's environment, because Airflow reads it when
it is imported.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from density_study.dags.notify.message import Message
from density_study.dags.notify.tell import tell
from density_study.workloads.study.study_file import read_study

RUN, TEST = "run", "test"


def test(spec: Path) -> dict[str, str]:
    """Send a test message to every receiver. Receiver -> why it did not get it; empty if it did."""
    from density_study.dags.notify.receivers import deliver

    study = read_study(spec).study
    message = Message("test", study.study, "", "this is a test of the study's key `notify`")
    return {receiver.name: deliver(receiver, message, {}) for receiver in study.notify}


def main(what: str, *arguments: str) -> None:
    if what == RUN:
        root, reason = arguments
        tell(root, reason)
    else:
        spec, result = arguments  # a file, because Airflow's log is on both outputs
        Path(result).write_text(json.dumps(test(Path(spec))), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
