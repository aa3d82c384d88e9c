"""Provider `container`: every node is an OCI container on this machine, run by runc."""
