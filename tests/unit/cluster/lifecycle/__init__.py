"""Memory of hosts and JVMs: what is chosen for them, and what they choose."""
