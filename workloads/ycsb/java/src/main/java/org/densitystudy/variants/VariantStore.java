package org.densitystudy.variants;

import java.nio.charset.StandardCharsets;
import java.util.Properties;
import site.ycsb.WorkloadException;

/**
 * Shape of the table: one row per sample and site. Properties: {@code -p variants.samples=..},
 * {@code variants.sites} and {@code variants.seed}, all required.
 */
public record VariantStore(int samples, int sites, long seed) {
  public VariantStore {
    if (samples < 1 || samples > 999_999) {
      throw new IllegalArgumentException(samples + " samples are not 1 to 999999");
    }
    if (sites < Genome.chromosomes()) {
      throw new IllegalArgumentException(sites + " sites are fewer than the chromosomes");
    }
    if ((long) samples * sites > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("more rows than a YCSB client can count");
    }
  }

  static VariantStore of(Properties properties) throws WorkloadException {
    long seed = number(properties, "variants.seed", null);
    int samples = (int) Math.min(number(properties, "variants.samples", null), Integer.MAX_VALUE);
    int sites = (int) Math.min(number(properties, "variants.sites", null), Integer.MAX_VALUE);
    try {
      return new VariantStore(samples, sites, seed);
    } catch (IllegalArgumentException wrong) {
      throw new WorkloadException(wrong.getMessage(), wrong);
    }
  }

  static long number(Properties properties, String name, Long preset) throws WorkloadException {
    String value = properties.getProperty(name, preset == null ? "" : preset.toString());
    try {
      return Long.parseUnsignedLong(value);
    } catch (NumberFormatException wrong) {
      throw new WorkloadException(name + " is not a whole number: '" + value + "'", wrong);
    }
  }

  public Genome genome() {
    return Genome.of(sites, seed);
  }

  int rows() {
    return samples * sites;
  }

  /**
   * {@code regions - 1} keys that split the rows into equal parts. All sites have the same number of
   * rows, so the splits are between sites, and the samples of a site stay together.
   */
  public byte[][] splits(int regions) {
    VariantRows rows = new VariantRows(genome(), seed);
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      String key = rows.key((int) ((long) i * sites / regions), 0);
      splits[i - 1] = key.getBytes(StandardCharsets.US_ASCII);
    }
    return splits;
  }
}
