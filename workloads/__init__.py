"""Studies, plans, trials, records; TestDFSIO, TeraSort, YCSB, Spark SQL, pipelines of genomes; monitors."""
