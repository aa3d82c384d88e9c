"""The Containerfile runs the commands that tests/fresh tries on Debian 13: README's packages and targets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "Containerfile").read_text(encoding="utf-8").replace("\\\n", "")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def packages(text: str) -> list[str]:
    (line,) = re.findall(r"apt-get install((?: [a-z0-9.+-]+)+)", text)
    return [word for word in line.split() if not word.startswith("-")]


def test_it_installs_readmes_packages() -> None:
    assert packages(TEXT) == packages(README)


def test_it_uses_readmes_targets_as_an_ordinary_user() -> None:
    user = TEXT.index("\nUSER study")
    assert user < TEXT.index("make setup") < TEXT.index('CMD ["make", "study"]')
    assert "    make study " in README


def test_its_base_is_a_release_that_tests_fresh_tries() -> None:
    """trixie is Debian 13."""
    assert "\nFROM debian:13\n" in TEXT
    assert '["bookworm", "trixie"]' in (ROOT / "tests/fresh/test_newcomer.py").read_text()


def test_all_that_the_set_up_needs_is_in_the_repository(tmp_path: Path) -> None:
    """The image gets .git alone."""
    clone = ["git", "clone", "--quiet", "--no-checkout", str(ROOT), str(tmp_path / "clone")]
    subprocess.run(clone, check=True)
    reset = ["git", "-C", str(tmp_path / "clone"), "reset", "--quiet", "--hard"]
    subprocess.run(reset, check=True)
    assert (tmp_path / "clone" / "Makefile").is_file()
