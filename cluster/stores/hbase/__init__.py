"""HBase as a store."""
