"""The genomics pipeline on real nodes."""
