"""`study init` and `study example`: a first study."""
