"""A cohort's variant store on HBase, driven by YCSB: the study key `genomics`. Its client is in ycsb/java."""
