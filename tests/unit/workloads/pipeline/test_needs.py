"""Programs that workers lack are named with the line that installs them, before anything starts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from density_study.cluster.machine import genomics
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.errors import InputError


def test_missing_programs_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"bwa", "bcftools"}
    monkeypatch.setattr(shutil, "which", lambda name, path: name if name in there else None)
    with pytest.raises(InputError, match="samtools, dwgsim not found") as caught:
        HOST_COMMANDS["check-genomics"]()
    assert caught.value.remedy.endswith("apt-get install samtools dwgsim.")


def test_programs_that_are_there_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path: name)
    genomics.check_programs()


def test_the_genome_of_e_coli_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(genomics, "E_COLI", tmp_path / "none")
    with pytest.raises(InputError, match=r"E\. coli 536 is missing") as caught:
        HOST_COMMANDS["check-e-coli"]()
    assert "apt-get install bowtie-examples" in caught.value.remedy
