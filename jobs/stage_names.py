"""Names of the stages of an analysis, in order. Imports nothing, because Airflow parses what imports it."""

from __future__ import annotations

STAGE_NAMES = ("ingest", "metrics", "verdicts", "series", "report")
REPORT = STAGE_NAMES[-1]
