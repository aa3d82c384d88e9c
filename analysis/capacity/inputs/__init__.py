"""The inputs of capacity planning: points, profiles, catalogues, traces, questions."""
