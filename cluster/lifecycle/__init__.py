"""From bring-up to tear-down, and reaping what dead runs left."""
