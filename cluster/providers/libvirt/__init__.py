"""Provider `libvirt`: several VMs on each host, cloned from one golden image."""

PROVIDERS = {"libvirt": "provider:LibvirtProvider"}
