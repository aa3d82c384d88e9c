"""The asset that ties the two DAGs: a study's tables and report are new."""

from __future__ import annotations

from airflow.sdk import Asset

RUN = "run"
"""Key of an event's extra: the folder of the run whose tables are new."""
TABLES = Asset(name="density_study_tables", uri="density-study://tables")
