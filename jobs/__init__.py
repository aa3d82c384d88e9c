"""How, at any size: Spark jobs from raw records to tables to metrics."""
