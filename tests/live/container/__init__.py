"""Containers of provider `container` on this machine, as root."""
