"""TestDFSIO from Hadoop's tests jar, as a MapReduce job on YARN."""
