"""Hosts, nodes, placement, memory and ports: frozen values and pure functions."""
