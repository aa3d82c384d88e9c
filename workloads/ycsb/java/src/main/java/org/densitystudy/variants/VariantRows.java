package org.densitystudy.variants;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Rows of a variant store, each a record of one sample's gVCF: key {@code chromosome:position:sample}
 * with leading zeros, so that the rows of a region, of all samples, are adjacent.
 *
 * <p>Every site has an alternative allele with its own frequency, log-uniform between 0.25 and 50 %. A
 * sample that carries it has a variant record as GATK's HaplotypeCaller writes it; other samples have a
 * reference block. So about one row in six is a variant, and its values have about five times the
 * bytes. A row depends only on seed, site and sample, so a reader can verify it.
 */
public record VariantRows(Genome genome, long seed) {
  private static final long SITE = 0x517EL;
  private static final long ROW = 0x120EL;
  private static final double RAREST = 0.0025;
  private static final double COMMONEST = 0.5;
  private static final double INDELS = 0.12;
  private static final double PHASED = 0.3;
  private static final String BASES = "ACGT";

  public String key(int site, int sample) {
    StringBuilder key = new StringBuilder(19);
    appendPadded(key, genome.chromosome(site), 2);
    appendPadded(key.append(':'), genome.position(site), 9);
    return appendPadded(key.append(':'), sample, 6).toString();
  }

  /**
   * By column: v alleles, q quality and filter, i INFO, g the sample's FORMAT values; of a reference
   * block v, e its end, and g.
   */
  Map<String, String> values(int site, int sample) {
    SplittableRandom ofSite = new SplittableRandom(Mix.of(seed, SITE, site));
    double frequency = RAREST * Math.pow(COMMONEST / RAREST, ofSite.nextDouble());
    SplittableRandom random = new SplittableRandom(Mix.of(seed, ROW, site, sample));
    int alternatives =
        (random.nextDouble() < frequency ? 1 : 0) + (random.nextDouble() < frequency ? 1 : 0);
    String reference = bases(ofSite, ofSite.nextDouble() < INDELS ? indelLength(ofSite) : 1);
    return alternatives == 0
        ? block(site, reference, random)
        : variant(site, reference, alternative(reference, ofSite), alternatives, random);
  }

  static boolean isVariant(Map<String, String> values) {
    return values.containsKey("i");
  }

  private Map<String, String> block(int site, String reference, SplittableRandom random) {
    int depth = depth(random);
    int quality = Math.min(99, 3 * depth);
    Map<String, String> values = new LinkedHashMap<>();
    values.put("v", reference.charAt(0) + "\t<NON_REF>");
    values.put("e", "END=" + (genome.position(site) + random.nextInt(1, 200)));
    values.put("g", "0/0:" + depth + ":" + quality + ":" + (depth - random.nextInt(0, 5))
        + ":0," + quality + "," + 45 * depth);
    return values;
  }

  private Map<String, String> variant(
      int site, String reference, String alternative, int count, SplittableRandom random) {
    int depth = depth(random);
    int carried = count == 2 ? depth : depth / 2 + random.nextInt(-3, 4);
    double quality = 30.0 * carried + 10 * random.nextGaussian();
    Map<String, String> values = new LinkedHashMap<>();
    values.put("v", reference + "\t" + alternative + ",<NON_REF>");
    values.put("q", decimals(quality, 2) + "\t" + (random.nextDouble() < 0.97 ? "PASS" : "LowQual"));
    values.put("i", info(count, depth, quality, random));
    values.put("g", format(site, reference, alternative, count, depth, carried, random));
    return values;
  }

  private static String info(int count, int depth, double quality, SplittableRandom random) {
    String ranks = count == 2
        ? ""
        : ";BaseQRankSum=" + decimals(random.nextGaussian(), 3)
            + ";MQRankSum=" + decimals(random.nextGaussian(), 3)
            + ";ReadPosRankSum=" + decimals(random.nextGaussian(), 3);
    return "AC=" + count + ",0;AF=" + (count == 2 ? "1.00" : "0.500") + ",0.00;AN=2;DP=" + depth
        + ";ExcessHet=3.0103;FS=" + decimals(Math.abs(5 * random.nextGaussian()), 3)
        + ";MLEAC=" + count + ",0;MLEAF=" + (count == 2 ? "1.00" : "0.500") + ",0.00;MQ="
        + decimals(60 - Math.abs(random.nextGaussian()), 2) + ranks
        + ";QD=" + decimals(quality / depth, 2)
        + ";SOR=" + decimals(0.7 + Math.abs(random.nextGaussian()), 3);
  }

  private String format(int site, String reference, String alternative, int count, int depth,
      int carried, SplittableRandom random) {
    boolean phased = count == 1 && random.nextDouble() < PHASED;
    String genotype = count == 2 ? "1/1" : phased ? "0|1" : "0/1";
    int high = 30 * carried;
    String likelihoods =
        count == 2 ? high + "," + 3 * depth + ",0" : high + ",0," + 30 * (depth - carried);
    String haplotype =
        phased ? ":0|1:" + genome.position(site) + "_" + reference + "_" + alternative : "";
    return genotype + ":" + (depth - carried) + "," + carried + ",0:" + depth + ":99" + haplotype
        + ":" + likelihoods + "," + (high + 45) + "," + 3 * high + ":" + random.nextInt(0, depth)
        + "," + random.nextInt(0, depth) + "," + carried / 2 + "," + (carried - carried / 2);
  }

  /** Another base (SNP); for a longer reference its first base (deletion); or an insertion. */
  private static String alternative(String reference, SplittableRandom ofSite) {
    if (reference.length() > 1) {
      return reference.substring(0, 1);
    }
    if (ofSite.nextDouble() < INDELS) {
      return reference + bases(ofSite, indelLength(ofSite) - 1);
    }
    int other = (BASES.indexOf(reference) + ofSite.nextInt(1, 4)) % 4;
    return BASES.substring(other, other + 1);
  }

  /** Geometric from 2 on: most indels are of one or two bases, a few of dozens. */
  private static int indelLength(SplittableRandom random) {
    return 2 + (int) (Math.log(1 - random.nextDouble()) / Math.log(0.65));
  }

  private static String bases(SplittableRandom random, int count) {
    StringBuilder found = new StringBuilder(count);
    for (int i = 0; i < count; i++) {
      found.append(BASES.charAt(random.nextInt(4)));
    }
    return found.toString();
  }

  /** Read depth of a genome sequenced at 30x. */
  private static int depth(SplittableRandom random) {
    return Math.max(12, (int) Math.round(30 + 6 * random.nextGaussian()));
  }

  /** As printf prints "%.2f" or "%.3f", but much faster. */
  private static String decimals(double value, int places) {
    int scale = places == 2 ? 100 : 1000;
    long scaled = Math.round(Math.abs(value) * scale);
    String rest = Long.toString(scale + scaled % scale).substring(1);
    return (value < 0 && scaled > 0 ? "-" : "") + scaled / scale + "." + rest;
  }

  private static StringBuilder appendPadded(StringBuilder text, int number, int digits) {
    String plain = Integer.toString(number);
    return text.append("0".repeat(Math.max(0, digits - plain.length()))).append(plain);
  }
}
