"""What the tasks of the DAGs do, as plain functions of a run's folder. No Airflow in here."""
