"""`study rehearse`: a study on a simulated cluster."""
