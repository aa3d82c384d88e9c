"""Clusters, hosts and programs that the live tests share."""
