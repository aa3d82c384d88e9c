"""Hosts made of namespaces: each has its address, its processes, its files and an sshd of its own."""
