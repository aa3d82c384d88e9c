"""What: the study, its plan and trials, TestDFSIO, YCSB and the monitors. One trial in, one record out."""
