package org.densitystudy.table;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Reads the variants of a VCF as rows: key {@code contig:position:reference:alternative}, the position with
 * leading zeros, so that the rows of a region are adjacent; a column per sample with its genotype.
 *
 * <p>Each variant must have one alternative ({@code bcftools norm -m -any}): then the same variant has the
 * same key in every file.
 */
final class CalledVariants {
  private static final int FIXED = 9;

  private final BufferedReader lines;
  private final byte[] family;
  private byte[][] samples;
  private long line;

  CalledVariants(BufferedReader lines, byte[] family) {
    this.lines = lines;
    this.family = family;
  }

  /** The row of the next variant; null after the last one. IOException that names a line that is wrong. */
  Put next() throws IOException {
    for (String text = lines.readLine(); text != null; text = lines.readLine()) {
      line++;
      if (text.startsWith("#CHROM")) {
        String[] columns = text.split("\t", -1);
        samples =
            Arrays.stream(columns).skip(FIXED).map(Bytes::toBytes).toArray(byte[][]::new);
      } else if (!text.startsWith("##")) {
        return put(text.split("\t", -1));
      }
    }
    if (samples == null) {
      throw wrong("no header with samples");
    }
    return null;
  }

  /** The beginning of the keys at a position. */
  static String key(String contig, long position) {
    return String.format(Locale.ROOT, "%s:%010d", contig, position);
  }

  private Put put(String[] cells) throws IOException {
    if (samples == null || samples.length == 0 || cells.length != FIXED + samples.length) {
      throw wrong("not the fixed columns and a genotype of each sample of the header");
    }
    if (cells[4].contains(",") || !cells[8].split(":")[0].equals("GT")) {
      throw wrong("not one alternative allele, or no genotypes (GT)");
    }
    Put put = new Put(Bytes.toBytes(key(cells) + ":" + cells[3] + ":" + cells[4]));
    for (int i = 0; i < samples.length; i++) {
      put.addColumn(family, samples[i], Bytes.toBytes(genotype(cells[FIXED + i])));
    }
    return put;
  }

  private String key(String[] cells) throws IOException {
    try {
      return key(cells[0], Long.parseUnsignedLong(cells[1]));
    } catch (NumberFormatException failure) {
      throw wrong("position " + cells[1] + " is not a number");
    }
  }

  private static String genotype(String values) {
    int end = values.indexOf(':');
    return end < 0 ? values : values.substring(0, end);
  }

  private IOException wrong(String what) {
    return new IOException("VCF, line " + line + ": " + what);
  }
}
