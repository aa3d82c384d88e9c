"""Studies, plans, trials and records; the workloads TestDFSIO, YCSB and a genomics pipeline; the monitors."""
