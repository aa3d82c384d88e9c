"""Commands of `study` that have a module of their own."""
