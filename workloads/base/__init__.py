"""Shared by all workloads: base classes, client processes, parsing, quantities."""
