"""Isolation: a victim's latency and throughput alone, and beside a noisy neighbour on its host."""
