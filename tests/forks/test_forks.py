"""`pytest --forks`: every test is run and reported once, also if a process of tests dies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.prove.groups import ROOT

TESTS = {
    "one": """
import os, pytest
@pytest.fixture(scope="session")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    yield place
    with open({ended!r}, "a") as file:
        file.write(f"{{place.parent.name}} {{os.getpid()}}\\n")
def test_passes(made): assert made.is_dir()
def test_fails(made, tmp_path):
    print("what it printed")
    assert tmp_path.parent == made, "why it failed"
@pytest.mark.skip(reason="why it was skipped")
def test_skipped(): pass
""",
    "two": "def test_is_elsewhere(made): assert True",
    "dies": "import os\ndef test_dies(): os.kill(os.getpid(), 9)\ndef test_after_it(): pass",
    "last": "def test_last(): pass",
}


def ended(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    for name in names:
        text = TESTS[name].format(ended=str(folder / "ended")) if name == "one" else TESTS[name]
        (folder / f"test_{name}.py").write_text(text)
    argv = [sys.executable, "-m", "pytest", "-q", "-rA", "--forks", "2", "-p", "tests.conftest",
            "-c", "/dev/null", "--rootdir", str(folder), str(folder)]  # fmt: skip
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


def test_outcomes_are_those_of_the_tests_and_fixtures_end(tmp_path: Path) -> None:
    run = ended(tmp_path, "one", "last")
    assert "1 failed, 2 passed, 1 skipped" in run.stdout, run.stdout + run.stderr
    assert run.returncode == 1
    assert "why it failed" in run.stdout and "what it printed" in run.stdout
    assert "why it was skipped" in run.stdout
    assert len((tmp_path / "ended").read_text().splitlines()) == 1


def test_what_a_dead_process_leaves_has_failed(tmp_path: Path) -> None:
    run = ended(tmp_path, "dies", "last")
    assert "2 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert run.returncode == 1
    assert run.stdout.count("its process died, or none was left to run it") == 2
    outcome = {
        line.rpartition("::")[2]: line.split()[0]
        for line in run.stdout.splitlines()
        if "::" in line
    }
    assert (outcome["test_dies"], outcome["test_after_it"], outcome["test_last"]) == (
        "FAILED", "FAILED", "PASSED",
    )  # fmt: skip
