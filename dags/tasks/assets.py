"""The asset that connects `density_study` and `capacity_plan`: the tables and the report of a run."""

from __future__ import annotations

from airflow.sdk import Asset

RUN = "run"
"""Key in the event's extra: the folder of the analysed run."""
TABLES = Asset(name="density_study_tables", uri="density-study://tables")
