"""Interval logs of YCSB: HdrHistograms decoded, merged and cut into seconds."""
