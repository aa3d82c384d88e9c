"""A cohort's genotypes, and a trait that a few planted variants decide: the known answer of the forest.

Genotypes are simulated: the few genomes that a study can take through the stages are too few for a forest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CAUSAL = 3
"""Planted variants: each explains about a third of the trait."""
_FREQUENCY = 0.4
"""For a planted variant: common, so that every group of samples has all its genotypes."""
_NOISE = 0.5


def planted(variants: int, seed: int) -> tuple[int, ...]:
    """Positions of the planted variants, from 0."""
    return tuple(int(at) for at in _random(seed).choice(variants, CAUSAL, replace=False))


def matrix(samples: int, variants: int, seed: int) -> bytes:
    """A line per sample in libsvm's format: the trait (0 or 1), then genotypes (1 or 2 copies of the variant)
    by position from 1; positions without the variant are left out. Half of the samples have the trait."""
    random = _random(seed)
    causal = random.choice(variants, CAUSAL, replace=False)
    frequencies = random.uniform(0.05, 0.5, variants)
    frequencies[causal] = _FREQUENCY
    genotypes = random.binomial(2, frequencies, (samples, variants))
    score = genotypes[:, causal].sum(axis=1) + random.normal(0.0, _NOISE, samples)
    trait = score > np.median(score)
    return b"".join(_line(*row) for row in zip(trait, genotypes, strict=True))


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _line(trait: Any, genotypes: Any) -> bytes:
    cells = (f"{at + 1}:{genotypes[at]}" for at in np.flatnonzero(genotypes))
    return f"{int(trait)} {' '.join(cells)}\n".encode()
