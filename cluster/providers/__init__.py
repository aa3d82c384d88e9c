"""Providers make nodes out of hosts and remove them: `local`, `physical`, `libvirt`, `container`.

With `existing` and `endpoint` there is nothing to make: the cluster or the store exists. `simulated` is a
model, for rehearsals.
"""
