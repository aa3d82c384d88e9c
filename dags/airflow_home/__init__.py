"""The embedded Airflow: its home, its database, and child processes that end with their parent."""
