"""Provider `existing`: a study's folder, namespace and queue on an existing cluster."""

PROVIDERS = {"existing": "provider:ExistingProvider"}
STAND_INS = {"endpoint": "endpoint:EndpointProvider"}
