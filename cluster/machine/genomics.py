"""What the workload `pipeline` needs on workers' machines. Standard library only: it runs on hosts."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from density_study.cluster.model.errors import InputError

PROGRAMS = ("bwa", "samtools", "bcftools", "dwgsim")
"""Each is in the Debian package of its name."""
E_COLI = Path("/usr/share/doc/bowtie/examples/genomes/NC_008253.fna.gz")
"""Escherichia coli 536, a public genome of 4.9 Mb."""


def check_programs() -> None:
    """InputError that names the missing programs."""
    missing = [
        program for program in PROGRAMS if shutil.which(program, path="/usr/bin:/bin") is None
    ]
    if missing:
        raise InputError(
            f"{', '.join(missing)} not found.",
            f"machine {platform.node()}, workload pipeline",
            f"install the Debian packages there: apt-get install {' '.join(missing)}.",
        )


def check_e_coli() -> None:
    if not E_COLI.exists():
        raise InputError(
            "the genome of E. coli 536 is missing.",
            f"machine {platform.node()}, {E_COLI}",
            "install its Debian package there: apt-get install bowtie-examples.",
        )
