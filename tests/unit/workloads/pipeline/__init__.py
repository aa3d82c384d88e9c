"""The genomics pipeline: what a study may say, what runs on nodes, and what is read back."""
