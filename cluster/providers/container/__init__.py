"""Provider `container`: every node is an OCI container on this machine or on hosts over SSH, run by runc."""

PROVIDERS = {"container": "provider:ContainerProvider"}
STAND_INS = {"container-ssh": "over_ssh:ContainerOverSshProvider"}
