"""The key `act` of `ycsb`: what an operator does to a store, while clients use it."""
