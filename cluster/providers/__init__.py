"""Providers make nodes out of hosts and remove them: `local`, `physical`, `libvirt`, `container`."""
