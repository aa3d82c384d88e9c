"""Messages about runs, sent by a real Airflow to real receivers."""
