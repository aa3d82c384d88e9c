"""Operations per second to hosts (`size --ops`), and back (`carry --mix`), from measured curves."""
