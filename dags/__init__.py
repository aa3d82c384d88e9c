"""Airflow DAGs and the `study` command: thin layers over the same functions (`dags.stages`)."""
