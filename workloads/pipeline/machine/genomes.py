"""Makes what the stages read: a reference with its index, and the reads of genomes that differ from it at
known places. The same bytes for the same arguments."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from density_study.cluster.machine.genomics import E_COLI
from density_study.workloads.pipeline.machine.files import sample

E_COLI_BASES = 4_938_920
READ_BASES = 150
REPEATS = 0.28
"""Share of a synthetic reference that lies in copies of a few sequences, as in old repeats of real ones."""
DIVERGENCE = 8
"""One base of this many differs between copies: they slow down an aligner, and reads still have one place."""
LINE = 60
_BASES = bytes(b"ACGT"[value % 4] for value in range(256))
REFERENCE = "reference/reference.fa"
CONTIG = "chr1"
"""Its only sequence."""
DICTIONARY = "reference/reference.dict"
"""Names and lengths of its sequences, as GATK needs them."""


@dataclass(frozen=True)
class Genomes:
    """The genomes `numbers` of a data set in `folder`. reference: synthetic or e-coli-536."""

    folder: Path
    reference: str
    bases: int
    coverage: int
    seed: int
    numbers: tuple[int, ...]

    def make(self) -> None:
        """Whatever of it is missing. A file beside each part says that it is whole."""
        self._once("reference/reference", self._make_reference)
        for number in self.numbers:
            self._once(f"reads/{sample(number)}", partial(self._make_reads, number))

    def _once(self, part: str, make: Callable[[], None]) -> None:
        done = self.folder / f"{part}.whole"
        if not done.exists():
            done.parent.mkdir(parents=True, exist_ok=True)
            make()
            done.touch()

    def _make_reference(self) -> None:
        path = self.folder / REFERENCE
        genome = (
            synthetic(self.bases, self.seed)
            if self.reference == "synthetic"
            else e_coli(self.bases)
        )
        lines = (genome[at : at + LINE] for at in range(0, len(genome), LINE))
        path.write_bytes(f">{CONTIG}\n".encode() + b"\n".join(lines) + b"\n")
        self._call("samtools", "faidx", REFERENCE)
        self._call("samtools", "dict", "-o", DICTIONARY, REFERENCE)
        self._call("bwa", "index", REFERENCE)

    def _make_reads(self, number: int) -> None:
        """Reads of 2 x 150 bases with 0.2 % errors, and the variants that they carry, 1 in 1,000 bases."""
        self._call(
            "dwgsim", "-z", str(self.seed % 2**31 + number), "-C", str(self.coverage),
            "-1", str(READ_BASES), "-2", str(READ_BASES), "-e", "0.002", "-E", "0.002", "-r", "0.001",
            "-y", "0", "-o", "1", REFERENCE, f"reads/{sample(number)}",
        )  # fmt: skip

    def _call(self, *argv: str) -> None:
        subprocess.run(argv, cwd=self.folder, check=True, stdin=subprocess.DEVNULL)


def synthetic(bases: int, seed: int) -> bytes:
    """Random bases, and copies of three sequences that differ from each other like old repeats."""
    random = Random(seed)
    genome = bytearray(random.randbytes(bases).translate(_BASES))
    families = [random.randbytes(length).translate(_BASES) for length in (300, 1_000, 6_000)]
    left = int(bases * REPEATS)
    while left > 0:
        copy = bytearray(random.choice(families))
        for _ in range(len(copy) // DIVERGENCE):
            copy[random.randrange(len(copy))] = random.choice(b"ACGT")
        at = random.randrange(bases - len(copy))
        genome[at : at + len(copy)] = copy
        left -= len(copy)
    return bytes(genome)


def e_coli(bases: int, path: Path = E_COLI) -> bytes:
    """The first bases of Escherichia coli 536."""
    with gzip.open(path) as file:
        lines = file.read().upper().splitlines()
    return b"".join(line for line in lines if not line.startswith(b">"))[:bases]
