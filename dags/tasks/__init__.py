"""Airflow tasks shared by the DAGs: thin, over `dags.stages`."""
