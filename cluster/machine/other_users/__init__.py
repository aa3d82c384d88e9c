"""Other users of this machine: who they are, and how the daemons of a build are kept from them."""
