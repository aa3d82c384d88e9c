"""What every workload shares: protocols, client processes, parsing, quantities."""
