"""Studies, plans, trials and records; TestDFSIO, TeraSort, YCSB and a genomics pipeline; the monitors."""
