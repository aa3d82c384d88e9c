"""Devices that watch the daemons themselves: their JVMs, threads and logs."""
