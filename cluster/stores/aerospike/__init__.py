"""Aerospike as a store."""
