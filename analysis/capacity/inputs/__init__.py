"""What capacity planning reads: points, profiles, catalogues, traces, questions."""
