"""Cassandra as a store."""
