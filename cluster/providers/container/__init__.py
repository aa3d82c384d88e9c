"""Provider `container`: every node is an OCI container on this machine or on hosts over SSH, run by runc."""
