"""Existing clusters: provider `existing` on a cluster that others built."""
