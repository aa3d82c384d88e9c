"""Hosts, nodes, disks, and the daemons of Hadoop and of stores on them.

Brings a topology up, proves it ready, takes it down and proves it gone. Imports none of the other
top-level packages.
"""
