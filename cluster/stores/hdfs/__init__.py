"""Ranges of files in HDFS as rows of YCSB."""
