"""Runs playbooks with Ansible's command line: one per phase, on all hosts at once.

Ansible uses the connections that the agents' channels hold open (ControlPath), so a host sees one session.
The user's own Ansible configuration is not read.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from density_study.cluster.model.errors import HostLostError, StudyError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh.channel import control_path
from density_study.cluster.providers.ssh.options import ssh_options
from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.tags import TAG

PLAYBOOKS = Path(__file__).with_name("playbooks")
TIMEOUT_S = 900.0
_KEPT = ("HOME", "PATH", "USER", "SSH_AUTH_SOCK")


def play(
    playbook: str,
    hosts: Mapping[Target, Mapping[str, Any]],
    variables: Mapping[str, Any],
    *,
    tag: str,
    work: str,
) -> None:
    """Run playbooks/<playbook>.yml on `hosts`, each with its own variables, and with `variables`.

    `work` is the program's folder on the hosts, where Ansible keeps what it needs meanwhile.
    HostLostError if a host cannot be reached, StudyError with the task if one fails.
    """
    inventory = {
        "all": {
            "hosts": {target.host: {**_address(target), **own} for target, own in hosts.items()},
            "vars": {**variables, "tag": tag, "work": work},
        }
    }
    with tempfile.TemporaryDirectory(
        prefix="ansible-", dir=runtime_dir(), ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        (folder / "hosts.json").write_text(json.dumps(inventory))
        (folder / "ansible.cfg").write_text("[defaults]\n")
        _judge(playbook, *_run(playbook, folder, _environment(folder, len(hosts), tag, work)))


def _run(playbook: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Exit code and output."""
    program = Path(sys.executable).with_name("ansible-playbook")
    argv = (str(program), "-i", str(folder / "hosts.json"), str(PLAYBOOKS / f"{playbook}.yml"))
    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=dict(environment),
        cwd=folder,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=TIMEOUT_S)
    except BaseException:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise
    return child.returncode, output


def _judge(playbook: str, code: int, output: str) -> None:
    results = [json.loads(line) for line in output.splitlines() if line.startswith('{"host"')]
    for kind, state in ((HostLostError, "unreachable"), (StudyError, "failed")):
        bad = [entry for entry in results if entry["state"] == state]
        if bad:
            why = dict.fromkeys(f"{entry['task']}: {entry['message'] or state}." for entry in bad)
            raise kind(
                " ".join(why),
                f"host {', '.join(repr(entry['host']) for entry in bad)}, playbook {playbook}",
                "fix the named problem on the host, then start again.",
            )
    if code != 0:
        raise StudyError(
            f"Ansible exited with {code}: {output.strip()[-600:]}",
            f"playbook {playbook}",
            "install this program again, with its dependencies.",
        )


def _address(target: Target) -> dict[str, Any]:
    through = ("-o", "ControlMaster=no", "-o", f"ControlPath={control_path(target)}")
    return {
        "ansible_host": target.address,
        "ansible_port": target.port,
        "ansible_user": target.user,
        "ansible_ssh_common_args": shlex.join((*ssh_options(target), *through)),
    }


def _environment(folder: Path, forks: int, tag: str, work: str) -> dict[str, str]:
    kept = {key: os.environ[key] for key in _KEPT if key in os.environ}
    return {
        **kept,
        TAG: tag,  # so that reap finds a play whose orchestrator was killed
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_REMOTE_TEMP": f"{work}/builds/.ansible",
        "ANSIBLE_CALLBACK_PLUGINS": str(PLAYBOOKS / "callback"),
        "ANSIBLE_STDOUT_CALLBACK": "json_lines",
        "ANSIBLE_FORKS": str(forks),
        "ANSIBLE_GATHERING": "explicit",
        "ANSIBLE_PIPELINING": "True",
        "ANSIBLE_SSH_ARGS": "",
        "ANSIBLE_SSH_TRANSFER_METHOD": "piped",
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
        "ANSIBLE_RETRY_FILES_ENABLED": "False",
        "ANSIBLE_DEPRECATION_WARNINGS": "False",
        "ANSIBLE_LOCALHOST_WARNING": "False",
    }
