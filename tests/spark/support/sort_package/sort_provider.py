"""The package's provider: groups of processes on this machine, under another name."""

from __future__ import annotations

from density_study.cluster.providers.local.provider import LocalProvider


class SameMachine(LocalProvider):
    """As `local`."""
