"""References are the same bytes on every machine, and have the repeats that they should have."""

from __future__ import annotations

import gzip
import hashlib
from collections import Counter
from pathlib import Path

from density_study.workloads.pipeline.machine.genomes import e_coli, synthetic


def test_a_synthetic_reference_is_the_same_everywhere() -> None:
    genome = synthetic(60_000, 7)
    assert len(genome) == 60_000 and set(genome) == set(b"ACGT")
    assert hashlib.sha256(genome).hexdigest()[:16] == "a7d6f75c6b99b672"
    assert synthetic(60_000, 8) != genome


def test_repeats_make_words_that_occur_often() -> None:
    """Of random bases, a word of 16 has 4 billion forms: hardly one occurs twice."""
    genome = synthetic(200_000, 7)
    words = Counter(genome[at : at + 16] for at in range(len(genome) - 16))
    repeated = sum(count for count in words.values() if count > 1) / len(genome)
    assert 0.02 < repeated < 0.28  # copies differ in one base of 8


def test_e_coli_is_cut_to_length_without_its_header(tmp_path: Path) -> None:
    path = tmp_path / "genome.fna.gz"
    path.write_bytes(gzip.compress(b">gi|1| Escherichia coli 536\nacgtACGT\nTTTT\n"))
    assert e_coli(10, path) == b"ACGTACGTTT"
