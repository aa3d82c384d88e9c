"""YCSB runs of others: their outputs, separated and read, and the trials they become."""
