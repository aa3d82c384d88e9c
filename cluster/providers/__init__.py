"""Providers make nodes out of hosts and remove them: `local`, `physical`, `libvirt`, `container`.

With `existing` and `endpoint` there is nothing to make: a cluster or a store stands already. `simulated` is a
model, for rehearsals.
"""
