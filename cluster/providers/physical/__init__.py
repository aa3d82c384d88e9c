"""Provider `physical`: hosts that are there already, over SSH. A node is a host."""

PROVIDERS = {"physical": "provider:PhysicalProvider"}
