"""The embedded Airflow: its home, its database, and processes that end with their parent."""
