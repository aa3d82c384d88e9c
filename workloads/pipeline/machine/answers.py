"""Compares called variants with those that were planted.

Both are normalised (bcftools norm): each variant has one form: position, reference, alternative. A row of the
variant store is its key and the genotype of each sample, with tabs: 'chr1:0000000077:AT:A', 'g001=0/1'. The
store's own client, which has other code, writes its rows.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from density_study.workloads.pipeline.machine.genomes import REFERENCE
from density_study.workloads.pipeline.machine.stages import DISTINCT_CALLS, STORED

Variant = tuple[int, str, str]
POSITION_DIGITS = 10


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


def called_rows(folder: Path) -> set[str]:
    """A row for each called variant of the cohort."""
    cells = "%CHROM\\t%POS\\t%REF\\t%ALT[\\t%SAMPLE=%GT]\\n"
    argv = ["bcftools", "query", "-f", cells, DISTINCT_CALLS]
    seen = subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    return rows(seen.stdout.decode().splitlines())


def stored_rows(folder: Path) -> set[str]:
    """The rows of the store, from its dump."""
    return set((folder / STORED).read_text(encoding="utf-8").splitlines())


def rows(lines: Sequence[str]) -> set[str]:
    """For the lines of bcftools query: contig, position, reference, alternative, genotypes."""
    return {_row(*line.split("\t")) for line in lines}


def _row(contig: str, position: str, reference: str, alternative: str, *genotypes: str) -> str:
    key = f"{contig}:{int(position):0{POSITION_DIGITS}d}:{reference}:{alternative}"
    return "\t".join((key, *sorted(genotypes)))
