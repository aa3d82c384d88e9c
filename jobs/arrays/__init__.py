"""Numpy and Arrow arrays that ingest computes with."""
