"""YCSB runs of others: their outputs, told apart and read, and the trials they become."""
