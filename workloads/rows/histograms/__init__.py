"""Interval logs of YCSB: decode and merge HdrHistograms, and cut intervals into seconds."""
