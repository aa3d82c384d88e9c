"""Networks that are changed for real: of containers, and of hosts made of namespaces."""
