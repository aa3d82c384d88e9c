"""Parsers for the output and logs of a YCSB client."""
