"""Noisy-neighbour trials: latency and throughput of a victim, without and with a noisy neighbour on its
host."""
