"""The facts that a trial's verdict rests on."""
