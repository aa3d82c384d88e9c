"""YCSB on HBase, through the project's own binding (java/)."""
