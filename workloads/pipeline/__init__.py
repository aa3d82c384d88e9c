"""A genomics pipeline whose stages run for real on the nodes: reads in, genotypes of a cohort out."""
