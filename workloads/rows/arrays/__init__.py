"""Array operations for ingest, on numpy and Arrow."""
