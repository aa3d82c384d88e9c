"""A server that a machine brings is found with its version and hash; one that will not do is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.stack import machine_program
from density_study.cluster.stack.machine_program import find_program

SAYS = r"(\w+) server v=(\S+)"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which programs are looked for."""
    monkeypatch.setattr(machine_program, "_SEARCHED", str(tmp_path))
    return tmp_path


def add(machine: Path, name: str, prints: str) -> Path:
    program = machine / name
    program.write_text(f"#!/bin/sh\necho '{prints}'\n")
    program.chmod(0o755)
    return program


def test_the_first_name_that_is_installed_is_taken(machine: Path) -> None:
    program = add(machine, "second", "Second server v=8.1.8 sha=0")
    assert find_program(["first", "second"], "first", SAYS, since=7) == {
        "name": "Second",
        "version": "8.1.8",
        "sha256": hashlib.sha256(program.read_bytes()).hexdigest(),
        "program": str(program),
    }


@pytest.mark.parametrize(
    ("prints", "said", "remedy"),
    [
        (None, "none of first, second is installed", "apt install first-server"),
        ("usage: first", "printed no version: usage: first", "supported release of first-server"),
        ("First server v=6.2.0", r"is version 6\.2\.0, older than 7\.0", "install version 7.0"),
    ],
)
def test_one_that_will_not_do_is_refused(
    machine: Path, prints: str | None, said: str, remedy: str
) -> None:
    if prints is not None:
        add(machine, "first", prints)
    with pytest.raises(InputError, match=said) as caught:
        find_program(["first", "second"], "first-server", SAYS, since=7)
    assert remedy in str(caught.value)
