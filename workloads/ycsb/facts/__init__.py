"""What the rows of a YCSB trial tell: `facts` for all of it."""
