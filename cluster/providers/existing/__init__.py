"""Provider `existing`: a study's folder, namespace and queue on a cluster that stands already."""

PROVIDERS = {"existing": "provider:ExistingProvider"}
STAND_INS = {"endpoint": "endpoint:EndpointProvider"}
