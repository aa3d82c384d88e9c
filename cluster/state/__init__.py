"""State that outlives a process: journal, leases, locks, owners, run folders."""
