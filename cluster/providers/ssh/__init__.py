"""Hosts over SSH: strict keys, one channel a host, an agent that leaves nothing there, playbooks."""
