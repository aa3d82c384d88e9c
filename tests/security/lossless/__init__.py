"""Nothing is lost, and nobody is stopped: leases, locks, full disks, and clocks that are set."""
