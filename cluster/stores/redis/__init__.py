"""Redis (or Valkey) as a store: one server, and Redis Cluster."""
