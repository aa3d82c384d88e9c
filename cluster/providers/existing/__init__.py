"""Provider `existing`: a study's folder, namespace and queue on a cluster that stands already."""
