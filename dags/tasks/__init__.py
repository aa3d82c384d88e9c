"""Airflow tasks and parameters that several DAGs share; the work is in `dags.stages`."""
