"""Provider `libvirt`: several VMs on each host, cloned from one golden image."""
