"""Spark SQL: a table in HDFS, and fixed queries of it by Spark on the cluster's YARN."""
