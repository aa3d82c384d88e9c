"""`study` in this process, and a study file whose host is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.host import Disk, Host
from density_study.dags.cli import main
from density_study.workloads.execution import opening
from density_study.workloads.planning import planned_study
from density_study.workloads.study.study import Study

STUDY = """\
study: tiny
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{disk_type: flash}]}
factors: {vms_per_host: [1, 2]}
workloads:
  - testdfsio: {modes: [write, read], files: 2, file_size: 1 MiB}
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def hosts(study: Study, _: Path) -> tuple[Host, ...]:
        disks = (Disk("/d", "flash"),)
        return (Host("here", "127.0.0.1", 2, 6144, disks, study.hosts[0].roles),)

    monkeypatch.setattr(opening, "resolve_hosts", hosts)
    monkeypatch.setattr(planned_study, "planned_hosts", hosts)
    monkeypatch.setattr(opening, "preflight", lambda *_: None)
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tiny.yaml"
    path.write_text(STUDY)
    return path


def study(*arguments: str) -> str:
    result = CliRunner().invoke(main.app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def printed(*arguments: str, code: int = 0) -> Any:
    done = CliRunner().invoke(main.app, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)
