"""README's commands, verbatim, in a fresh clone on a minimal system with README's packages alone."""

from __future__ import annotations

import re
import shutil
import subprocess
from os import environ, geteuid
from pathlib import Path

import pytest

from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.shipped import study_path
from tests.support.pages.blocks import blocks, printed

CHECKOUT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(0),
    pytest.mark.skipif(
        geteuid() != 0 or not shutil.which("mmdebstrap"), reason="needs root and mmdebstrap"
    ),
]
MAX_S = 3600
COMMANDS = re.findall(r"^    (make \w+) ", (CHECKOUT / "README.md").read_text(), re.M)


def test_readme_has_two_commands() -> None:
    assert COMMANDS == ["make study", "make test"]


@pytest.mark.parametrize("suite", ["bookworm", "trixie"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_newcomers_command_succeeds(command: str, suite: str) -> None:
    """The script installs what README's apt-get line names, then runs `command` in the clone."""
    done = subprocess.run(
        [CHECKOUT / "tests/fresh/debian.sh", *command.split()],
        env=environ | {"SUITE": suite},
        capture_output=True,
        text=True,
        timeout=MAX_S,
        check=False,
    )
    end = f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert done.returncode == 0, end
    if command == "make study":
        trials = plan_study(study_path(Path("quickstart"))).plan.trials
        assert len(re.findall(r" 1 valid$", done.stdout, re.M)) == len(trials), end
        assert "report/index.html" in done.stdout, end
        page = (CHECKOUT / "docs" / "tutorials" / "first-report.md").read_text()
        line, headline = [block.text for block in blocks(page) if block.language == "text"]
        assert printed(line, done.stdout), end
        assert printed(headline.partition(" (YCSB")[0], " ".join(done.stdout.split())), end
    else:
        assert re.search(r"\d+ passed", done.stdout) and " failed" not in done.stdout, end
