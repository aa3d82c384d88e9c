"""Entry point of the command `study`: the user's shell is left behind before anything else is imported."""

from __future__ import annotations

import gc

from density_study.cluster.state import shell


def main() -> None:
    shell.enter()
    gc.set_threshold(50_000)  # what is imported is no garbage: looking took a tenth of a start
    # Not above: a foreign PYTHONPATH may lead to other versions of the libraries that it imports.
    from density_study.dags.cli.main import main as command

    command()
