"""What runs on a node: genomes are made, taken through the stages, and compared with the truth."""
