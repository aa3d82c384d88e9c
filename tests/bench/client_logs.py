"""Interval logs of YCSB clients that ran without a trial: their rows, for the facts of a trial's logs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from density_study.workloads.rows.file_tables import log_tables
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.rows.raw.trial_context import TrialFacts
from density_study.workloads.rows.trial_rows import TrialRows
from density_study.workloads.tables import YCSB_HISTOGRAMS, Table
from density_study.workloads.tables.arrow import arrow_schema


def log_rows(folder: Path, clients: Mapping[str, float]) -> TrialRows:
    """clients: when each one's ramp-up ended, in its clock."""
    pieces = [arrow_schema(YCSB_HISTOGRAMS).empty_table()]
    for client, from_s in clients.items():
        facts = TrialFacts(
            window=(from_s, math.inf), warm_up_s=1e-9
        )  # 0 would keep what came before
        for path in sorted(folder.glob(f"{client}-*.hdr")):
            file = RawFile("t", "ycsb-hdr", client, path.name, str(path), facts=facts)
            pieces += [rows for table, rows in log_tables(file) if table is YCSB_HISTOGRAMS]
    whole = pa.concat_tables(pieces)

    def read(table: Table, columns: tuple[str, ...]) -> pa.Table:
        rows = whole if table is YCSB_HISTOGRAMS else arrow_schema(table).empty_table()
        return rows.select(list(columns))

    return TrialRows({}, read)
