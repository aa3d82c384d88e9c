"""A package that registers plug-ins may fail in any way: one error that names it, and clean output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WAYS = {
    "raises": ("raise ValueError('x')", ""),
    "exits": ("raise SystemExit(0)", ""),
    "exits with a text": ("import sys; sys.exit('gone')", ""),
    "lacks it": ("", ""),
    "syntax": ("def", ""),
}


def listed(folder: Path, code: str, points: str) -> subprocess.CompletedProcess[str]:
    """`study list --json`, with the package installed."""
    facts = folder / "site" / "evil-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    points = points or "[density_study.workloads]\nevil = evil:X\n"
    (facts / "entry_points.txt").write_text(points)
    (folder / "site" / "evil.py").write_text(code)
    program = (
        f"import sys; sys.path.append({str(folder / 'site')!r})\n"
        "from density_study.dags.cli.main import main\n"
        "sys.argv = ['study', 'plan', 'quickstart', '--json']\nmain()"
    )
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "DENSITY_STUDY_RUNTIME": str(folder / "runtime")},
    )  # fmt: skip


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=[] if way in ("raises", "exits") else pytest.mark.slow)
        for way in WAYS
    ],
)
def test_a_package_that_fails_is_named(way: str, tmp_path: Path) -> None:
    done = listed(tmp_path, *WAYS[way])
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and "remedy:" in done.stderr, done.stderr
    assert "evil" in done.stderr
    assert done.stdout == ""


def test_what_a_package_prints_is_in_no_json(tmp_path: Path) -> None:
    done = listed(tmp_path, "print('hello, parser')", "[density_study.metrics]\n")
    assert done.returncode == 0 and json.loads(done.stdout)
    code = "print('hello, parser')\nX = 1"
    done = listed(tmp_path / "second", code, "")
    assert done.returncode == 2 and done.stdout == "" and "hello, parser" in done.stderr
