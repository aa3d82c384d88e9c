"""What a Prometheus server of an existing cluster tells of a trial, as files of telemetry devices."""
