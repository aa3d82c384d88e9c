"""Airflow's web UI and scheduler with this project's DAGs: `make airflow`."""
