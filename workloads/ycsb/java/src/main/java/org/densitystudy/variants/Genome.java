package org.densitystudy.variants;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The sites of a variant store on the chromosomes of GRCh38, in the order of its keys.
 *
 * <p>The number of sites of a chromosome is proportional to its length. Gaps between sites are
 * log-normal, so that sites form clusters, as variants do. The same number and seed give the same sites
 * in every client and in the tool that splits the table.
 */
public record Genome(int[] firsts, int[] positions) {
  /** Chromosomes 1 to 22, X and Y of GRCh38's primary assembly (GCA_000001405.15), in base pairs. */
  private static final int[] LENGTHS = {
    248_956_422, 242_193_529, 198_295_559, 190_214_555, 181_538_259, 170_805_979,
    159_345_973, 145_138_636, 138_394_717, 133_797_422, 135_086_622, 133_275_309,
    114_364_328, 107_043_718, 101_991_189, 90_338_345, 83_257_441, 80_373_285,
    58_617_616, 64_444_167, 46_709_983, 50_818_468, 156_040_895, 57_227_415
  };

  private static final double GAP_SIGMA = 1.0;
  private static final long SITES = 0x5157E5L;

  /** {@code sites}: total over all chromosomes, at least one for each. */
  public static Genome of(int sites, long seed) {
    if (sites < LENGTHS.length) {
      throw new IllegalArgumentException(
          sites + " sites are fewer than the " + LENGTHS.length + " chromosomes");
    }
    int[] firsts = shares(sites);
    int[] positions = new int[sites];
    for (int chromosome = 1; chromosome <= LENGTHS.length; chromosome++) {
      SplittableRandom random = new SplittableRandom(Mix.of(seed, SITES, chromosome));
      int first = firsts[chromosome - 1];
      place(positions, first, firsts[chromosome] - first, LENGTHS[chromosome - 1], random);
    }
    return new Genome(firsts, positions);
  }

  public int sites() {
    return positions.length;
  }

  /** Base pair on the chromosome, from 1. */
  public int position(int site) {
    return positions[site];
  }

  /** 1 to 24; 23 is X and 24 is Y. */
  public int chromosome(int site) {
    int found = Arrays.binarySearch(firsts, site);
    return found >= 0 ? found + 1 : -found - 1;
  }

  /** Number of sites from {@code site}, inclusive, to the end of its chromosome. */
  int sitesLeft(int site) {
    return firsts[chromosome(site)] - site;
  }

  static int length(int chromosome) {
    return LENGTHS[chromosome - 1];
  }

  static int chromosomes() {
    return LENGTHS.length;
  }

  /** First site of each chromosome; at the end, the total number of sites. */
  private static int[] shares(int sites) {
    long all = Arrays.stream(LENGTHS).asLongStream().sum();
    int[] firsts = new int[LENGTHS.length + 1];
    long reached = 0;
    int free = sites - LENGTHS.length;
    for (int i = 0; i < LENGTHS.length; i++) {
      reached += LENGTHS[i];
      firsts[i + 1] = (int) ((long) free * reached / all) + i + 1;
    }
    return firsts;
  }

  /** Sorted distinct positions from 1 to {@code length}. */
  private static void place(
      int[] positions, int first, int count, int length, SplittableRandom random) {
    double[] reached = new double[count + 1];
    double sum = 0;
    for (int i = 0; i <= count; i++) {
      sum += Math.exp(GAP_SIGMA * random.nextGaussian());
      reached[i] = sum;
    }
    for (int i = 0; i < count; i++) {
      int position = (int) (reached[i] / sum * (length - count));
      positions[first + i] = position + i + 1; // + i makes them distinct
    }
  }
}
