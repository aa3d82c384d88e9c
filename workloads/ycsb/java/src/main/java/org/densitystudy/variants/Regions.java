package org.densitystudy.variants;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The regions that cohort queries read: a seeded catalogue with the probability of each.
 *
 * <p>Regions start at any site of the genome. Their lengths, in sites, are log-normal around a median,
 * as those of genes are; none is longer than LONGEST medians or crosses the end of its chromosome. The
 * probability of region n is proportional to 1 / n (zipfian), or equal for all.
 */
record Regions(int[] firsts, int[] counts, double[] reached) {
  /** As of human genes, where the mean is about three times the median. */
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

  /** A random region: its number, from 0. */
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

  /** Number of sites of the region, at least 1. */
  int sites(int region) {
    return counts[region];
  }
}
