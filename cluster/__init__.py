"""Where: hosts, nodes, disks and the Hadoop/HBase daemons on them.

Brings a topology up, proves it ready, takes it down and proves it gone. Imports nothing of the
project's other rooms.
"""
