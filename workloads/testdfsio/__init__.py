"""TestDFSIO, from Hadoop's own tests jar, as a MapReduce job on YARN."""
