"""A trial in which something is done to the cluster: what a study says of it, its victims, and the deed."""
