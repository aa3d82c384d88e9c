"""Existing clusters with Kerberos and TLS, at a real KDC."""
