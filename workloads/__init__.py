"""Studies, plans, trials and records; the workloads TestDFSIO and YCSB; the monitors."""
