package org.densitystudy.variants;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GenomeTest {
  private static final int SITES = 20_000;
  private final Genome genome = Genome.of(SITES, 7);

  @Test
  void itIsGrch38() {
    long all = IntStream.rangeClosed(1, Genome.chromosomes()).mapToLong(Genome::length).sum();
    assertEquals(3_088_269_832L, all);
    assertEquals(248_956_422, Genome.length(1));
    assertEquals(57_227_415, Genome.length(24));
  }

  @Test
  void sitesAreProportionalToChromosomeLength() {
    long all = IntStream.rangeClosed(1, Genome.chromosomes()).mapToLong(Genome::length).sum();
    for (int chromosome = 1; chromosome <= 24; chromosome++) {
      int number = chromosome;
      long sites = IntStream.range(0, SITES).filter(s -> genome.chromosome(s) == number).count();
      assertEquals((double) SITES * Genome.length(number) / all, sites, 3, "chromosome " + number);
    }
  }

  @Test
  void positionsAreSortedDistinctAndWithinTheirChromosome() {
    for (int site = 0; site < SITES; site++) {
      int position = genome.position(site);
      assertTrue(position >= 1 && position <= Genome.length(genome.chromosome(site)));
      if (site > 0 && genome.chromosome(site) == genome.chromosome(site - 1)) {
        assertTrue(position > genome.position(site - 1));
      }
    }
  }

  @Test
  void sitesAreClustered() {
    double[] gaps =
        IntStream.range(1, (int) (SITES * 0.08))
            .mapToDouble(site -> genome.position(site) - genome.position(site - 1))
            .toArray();
    double mean = Arrays.stream(gaps).average().orElseThrow();
    double variance = Arrays.stream(gaps).map(gap -> (gap - mean) * (gap - mean)).average().orElseThrow();
    assertTrue(Math.sqrt(variance) > 1.1 * mean, "gaps vary no more than those of a Poisson process");
  }

  @Test
  void seedAndNumberDetermineTheVariant() {
    assertArrayEquals(positions(Genome.of(SITES, 7)), positions(genome));
    assertFalse(Arrays.equals(positions(Genome.of(SITES, 8)), positions(genome)));
  }

  @Test
  void aChromosomeWithoutASiteIsRefused() {
    assertEquals(24, Genome.of(24, 1).sites());
    assertThrows(IllegalArgumentException.class, () -> Genome.of(23, 1));
  }

  @Test
  void aSiteKnowsTheNumberOfRemainingSites() {
    assertEquals(1, genome.sitesLeft(SITES - 1));
    int first = genome.sitesLeft(0);
    assertEquals(1, genome.chromosome(first - 1));
    assertEquals(2, genome.chromosome(first));
  }

  private static int[] positions(Genome genome) {
    return IntStream.range(0, genome.sites()).map(genome::position).toArray();
  }
}
