"""Noisy-neighbour trials: latency and throughput of a victim, alone and with a noisy neighbour on its
host."""
