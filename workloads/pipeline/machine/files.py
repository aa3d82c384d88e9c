"""The two files that a node writes: what each stage used, and how each genome's variants compare with the
truth. Their titles and headers; standard library only, because they are written on hosts."""

from __future__ import annotations

FORMAT = 2
ALIGN, SORT, CALL, JOINT = STAGES = ("align", "sort-markdup", "call", "joint-genotype")
"""The stages in the order in which they run; JOINT runs once for all genomes of a node."""
LOAD = "variant-load"
"""Once for all genomes of a node, after JOINT, where a study asks for it."""
IMPORTANCE = "variant-importance"
"""Once for all nodes, on their YARN, where a study asks for it."""
COHORT = "cohort"
"""What the rows of JOINT, LOAD and IMPORTANCE name in place of a genome."""
STAGE_COLUMNS = (
    "genome",
    "stage",
    "start_epoch_s",
    "end_epoch_s",
    "core_s",
    "reaped_core_s",
    "peak_kib",
    "read_bytes",
    "written_bytes",
    "exit_code",
    "tasks",
)
ANSWER_COLUMNS = ("genome", "stage", "planted", "called", "found")


def title(what: str, node: str) -> str:
    """The first line of a file: '# stages format 1, node=w1'."""
    return f"# {what} format {FORMAT}, node={node}"


def sample(number: int) -> str:
    """Name of a genome: g001."""
    return f"g{number:03d}"
