package org.densitystudy.variants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RegionsTest {
  private static final int MEDIAN = 15;
  private final Genome genome = Genome.of(50_000, 3);
  private final Regions regions = Regions.of(genome, 2_000, MEDIAN, true, 3);

  @Test
  void noRegionExceedsItsChromosome() {
    for (int i = 0; i < regions.size(); i++) {
      int first = regions.firstSite(i);
      int last = first + regions.sites(i) - 1;
      assertEquals(genome.chromosome(first), genome.chromosome(last));
      assertTrue(regions.sites(i) >= 1 && regions.sites(i) <= Regions.LONGEST * MEDIAN);
    }
  }

  @Test
  void lengthsAreDistributedLikeGenes() {
    int[] sites = IntStream.range(0, regions.size()).map(regions::sites).sorted().toArray();
    assertEquals(MEDIAN, sites[sites.length / 2], 2);
    double mean = Arrays.stream(sites).average().orElseThrow();
    assertTrue(mean > 1.7 * MEDIAN && mean < 3.2 * MEDIAN, "mean " + mean);
  }

  @Test
  void theFirstRegionsAreRequestedMostOften() {
    int[] requests = requests(regions);
    double harmonic = IntStream.rangeClosed(1, 2_000).mapToDouble(n -> 1.0 / n).sum();
    assertEquals(100_000 / harmonic, requests[0], 500);
    assertEquals(100_000 / harmonic / 10, requests[9], 200);
  }

  @Test
  void orAllAlike() {
    int[] requests = requests(Regions.of(genome, 100, MEDIAN, false, 3));
    assertTrue(Arrays.stream(requests).allMatch(times -> Math.abs(times - 1_000) < 200));
  }

  @Test
  void theSeedDeterminesTheRegions() {
    Regions again = Regions.of(genome, 2_000, MEDIAN, true, 3);
    Regions other = Regions.of(genome, 2_000, MEDIAN, true, 4);
    assertEquals(again.firstSite(17), regions.firstSite(17));
    assertTrue(IntStream.range(0, 50).anyMatch(i -> other.firstSite(i) != regions.firstSite(i)));
  }

  private static int[] requests(Regions regions) {
    SplittableRandom random = new SplittableRandom(5);
    int[] requests = new int[regions.size()];
    for (int i = 0; i < 100_000; i++) {
      requests[regions.draw(random)]++;
    }
    return requests;
  }
}
