"""Airflow's web UI and scheduler with this project's DAGs: `study airflow`."""
