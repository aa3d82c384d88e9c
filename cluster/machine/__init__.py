"""What runs on a host. Standard library only: the SSH agent carries these modules there."""
