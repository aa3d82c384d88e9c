"""Kudu as a store."""
