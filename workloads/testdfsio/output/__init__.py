"""Parsers for the output of TestDFSIO and MapReduce."""
