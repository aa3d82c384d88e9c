"""A cohort's variant store on HBase, driven by YCSB: `genomics:` of a study (java/ of workloads/ycsb)."""
