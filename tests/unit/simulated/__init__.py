"""The model of a cluster, its output, and rehearsals."""
