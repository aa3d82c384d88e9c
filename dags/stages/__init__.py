"""The work of the DAGs' tasks, as plain functions of a run's folder. Does not import Airflow."""
