"""What every task that uses this project does first, in whatever Airflow it runs. The setting
`ssh_connection` names the Airflow connection with the SSH key for hosts."""

from __future__ import annotations

import json
import os
from typing import Any

from density_study.cluster.model.errors import InputError
from density_study.cluster.state import shell
from density_study.cluster.state.settings import VARIABLES, setting
from density_study.dags.airflow_home.home import ONE_PROCESS

_FILE, _KEY, _PASSPHRASE = "key_file", "private_key", "private_key_passphrase"


def use_ssh_connection() -> None:
    """From now on this process uses the key of the connection, as the setting `ssh_identity`. Nothing without
    the setting `ssh_connection`.

    The key is in an unnamed file in memory, which ends with this process. InputError for a connection
    without a usable key.
    """
    name = setting("ssh_connection")
    if name is None:
        return
    from airflow.sdk import Connection

    held = json.loads(Connection.get(name).extra or "{}")
    if held.get(_FILE):
        os.environ[VARIABLES["ssh_identity"]] = str(held[_FILE])
        return
    if not held.get(_KEY):
        raise _fault(name, "it has no private key", f"add {_KEY} or {_FILE} to its extra fields.")
    if held.get(_PASSPHRASE):
        raise _fault(name, "its private key has a passphrase", "use an SSH agent for such a key.")
    descriptor = os.memfd_create("ssh-key")
    os.fchmod(descriptor, 0o600)  # ssh refuses a key that others can read
    lines = str(held[_KEY]).strip().splitlines()  # a browser's form may end them as Windows does
    os.write(descriptor, "".join(f"{line}\n" for line in lines).encode())
    os.environ[VARIABLES["ssh_identity"]] = f"/proc/{os.getpid()}/fd/{descriptor}"


def _fault(name: str, what: str, remedy: str) -> InputError:
    return InputError(f"{what}.", f"the Airflow connection {name!r}", remedy)


def own_process(_context: Any) -> None:
    """`pre_execute` of the tasks: a clean environment, which keeps what belongs to Airflow, and the SSH key
    of the connection. Airflow gives each task a process of its own.

    Not so `study run`: its one process was clean from its start, and Spark, which starts in the background
    during the last step, would lose the variables that were set for it.
    """
    if ONE_PROCESS not in os.environ:
        shell.clean(hosted=True)
    use_ssh_connection()
