"""Commands that errors and hints show are copied into a shell: names in them may be of strangers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from density_study import cluster
from density_study.analysis.comparison.history import read_comparison
from density_study.cluster.model.errors import InputError

ROOT = Path(next(iter(cluster.__path__))).parent
_UNQUOTED = re.compile(
    r"\bstudy (?:run|doctor|report|compare|reap|import|rm|watch|status)(?: --?[a-z-]+)* "
    r"(?:\{\{(?![^}]*\| quoted)|\{(?!\{|quote\(|shlex\.quote\())"
)
NO_COMMANDS = {
    "dags/cli/compare/formats.py",  # the name of a suite of tests
    "dags/cli/first/study.yaml.j2",  # its file is quoted already
}


def test_every_name_in_a_command_is_quoted() -> None:
    rooms = ("analysis", "cluster", "dags", "jobs", "workloads")
    found = {
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for room in rooms
        for file in (ROOT / room).rglob("*.*")
        if file.suffix in {".py", ".j2"}
        if str(file.relative_to(ROOT)) not in NO_COMMANDS
        for line in file.read_text().splitlines()
        if _UNQUOTED.search(line)
    }
    assert found == set()


def test_a_folder_of_a_stranger_is_one_word(tmp_path: Path) -> None:
    run = tmp_path / "s" / "$(touch pwned)"
    (run / "report").mkdir(parents=True)
    (run / "report" / "comparison.json").write_text("{")
    with pytest.raises(InputError) as caught:
        read_comparison(run)
    assert f"study compare '{run}'" in caught.value.remedy
