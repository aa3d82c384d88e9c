package org.densitystudy.variants;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The regions that cohort queries ask for: a seeded catalogue, and how often each is asked for.
 *
 * <p>Regions stand anywhere in the genome, at a chromosome's sites. Their lengths, in sites, are
 * log-normal round a median, as those of genes are; none is longer than LONGEST medians or goes
 * beyond its chromosome. Region n is asked for in proportion to 1 / n (zipfian), or all alike.
 */
record Regions(int[] firsts, int[] counts, double[] reached) {
  /** Of human genes: the mean is some three times the median. */
  private static final double LENGTH_SIGMA = 1.4;

  static final int LONGEST = 20;
  private static final long CATALOGUE = 0x2E6109L;

  static Regions of(Genome genome, int regions, int medianSites, boolean zipfian, long seed) {
    SplittableRandom random = new SplittableRandom(Mix.of(seed, CATALOGUE));
    int[] firsts = new int[regions];
    int[] counts = new int[regions];
    double[] reached = new double[regions];
    double sum = 0;
    for (int i = 0; i < regions; i++) {
      firsts[i] = random.nextInt(genome.sites());
      double length = medianSites * Math.exp(LENGTH_SIGMA * random.nextGaussian());
      long most = Math.min((long) LONGEST * medianSites, genome.sitesLeft(firsts[i]));
      counts[i] = (int) Math.max(1, Math.min(most, Math.round(length)));
      sum += zipfian ? 1.0 / (i + 1) : 1.0;
      reached[i] = sum;
    }
    return new Regions(firsts, counts, reached);
  }

  /** The next region asked for: its number, from 0. */
  int draw(SplittableRandom random) {
    double at = random.nextDouble() * reached[reached.length - 1];
    int found = Arrays.binarySearch(reached, at);
    return Math.min(reached.length - 1, found >= 0 ? found + 1 : -found - 1);
  }

  int size() {
    return firsts.length;
  }

  int firstSite(int region) {
    return firsts[region];
  }

  /** How many sites it has, from 1. */
  int sites(int region) {
    return counts[region];
  }
}
