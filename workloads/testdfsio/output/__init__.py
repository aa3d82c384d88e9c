"""Parsers of what TestDFSIO and MapReduce write."""
