"""Clusters and stores of others: what is read of their files and their servers."""
