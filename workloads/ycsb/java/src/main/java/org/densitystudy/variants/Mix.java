package org.densitystudy.variants;

/** Hashes several numbers to a seed, so that every process generates the same data. */
final class Mix {
  private Mix() {}

  static long of(long seed, long... parts) {
    long mixed = scrambled(seed);
    for (long part : parts) {
      mixed = scrambled(mixed ^ part);
    }
    return mixed;
  }

  /** SplitMix64's finalizer (Steele, Lea, Flood 2014), after a step by its golden ratio. */
  private static long scrambled(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
