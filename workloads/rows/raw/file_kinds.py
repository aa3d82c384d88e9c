"""Kinds of raw files by what a bad line in them means, for the first look and for the analysis alike."""

from __future__ import annotations

from density_study.workloads.monitors import DEVICES, EXPORTED, MONITORS

SAMPLES = ("sar", *MONITORS, *DEVICES, *EXPORTED)
"""A bad line is a missing sample."""
WITHOUT_NUMBERS = ("ycsb-status",)
"""A bad line means nothing: a client's standard error also has messages of its JVM. In all other files it
may be a missing result."""


def is_result(kind: str) -> bool:
    """Whether a bad line of the file may be a missing result."""
    return kind not in SAMPLES and kind not in WITHOUT_NUMBERS
