"""YCSB on HBase and other stores, through the project's own bindings (java/)."""
