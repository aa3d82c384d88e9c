"""Provider `libvirt`: several virtual machines on each host, cloned from one image of the project's own."""
