"""What outlives a process: journal, leases, locks, owners, the run folders."""
