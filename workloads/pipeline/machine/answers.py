"""Compares called variants with those that were planted.

Both are normalised (bcftools norm): each variant has one form: position, reference, alternative.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from density_study.workloads.pipeline.machine.genomes import REFERENCE

Variant = tuple[int, str, str]


def planted(folder: Path, name: str) -> set[Variant]:
    """The variants that dwgsim put into a genome."""
    return variants_of(folder, f"reads/{name}.mutations.vcf")


def variants_of(folder: Path, file: str) -> set[Variant]:
    """All variants of a VCF file."""
    return variants(_normalised(folder, file).decode().splitlines())


def called_jointly(folder: Path, cohort: str, name: str) -> set[Variant]:
    """The variants of one genome of a cohort: where its genotype has the alternative."""
    argv = ["bcftools", "view", "-H", "-s", name, "-c", "1"]
    split = _normalised(folder, cohort)
    seen = subprocess.run(argv, cwd=folder, check=True, input=split, capture_output=True)
    return variants(seen.stdout.decode().splitlines())


def _normalised(folder: Path, file: str) -> bytes:
    argv = ["bcftools", "norm", "-f", REFERENCE, "-m", "-any", file]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True).stdout


def variants(lines: Sequence[str]) -> set[Variant]:
    """The variants in the lines of a VCF."""
    cells = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {(int(row[1]), row[3].upper(), row[4].upper()) for row in cells}
