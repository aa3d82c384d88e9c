"""Rows of the variant store beside the variants that were called jointly, in the same form.

A row is its key and the genotype of each sample: 'chr1:0000000077:AT:A', 'g001=0/1', 'g003=0/0', with tabs.
bcftools reads the variants here; the store's rows come from its own client, which has other code.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from density_study.workloads.pipeline.machine.stages import DISTINCT_CALLS, STORED

POSITION_DIGITS = 10


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
