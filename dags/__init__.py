"""When: Airflow DAGs and the ``study`` command; both thin, both calling the same functions."""
