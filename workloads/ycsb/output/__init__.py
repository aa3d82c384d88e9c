"""Parsers of what a YCSB client prints and logs."""
