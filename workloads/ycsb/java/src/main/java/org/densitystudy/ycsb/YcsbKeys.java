package org.densitystudy.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.stream.LongStream;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's keys, by YCSB's own function, and where to cut them into regions of equal size.
 *
 * <p>A hashed key is "user" and a 63-bit hash in decimal without leading zeros. Compared as text they are
 * far from even: nine of ten have 19 digits and begin with 1 to 9, and none begins with 0. Even
 * splits of user1000..user9999 therefore leave the last regions nearly empty.
 */
public final class YcsbKeys extends CoreWorkload {
  public static final int MAX_REGIONS = 50_000;

  /** Each region then holds its part of the keys within some 3 %, the inverse of the root. */
  private static final int KEYS_PER_REGION = 1_000;

  private static final int LEAST_SAMPLE = 100_000;

  /** As long numbers, 40 MB. Of MAX_REGIONS, each holds its part within some 10 %. */
  private static final int MOST_SAMPLE = 5_000_000;

  private static final String PREFIX = "user";
  private static final int DIGITS = 19;

  private YcsbKeys() {}

  /** {@code zeroPadding}: least number of digits; YCSB's preset 1 pads nothing. */
  public static YcsbKeys padded(int zeroPadding) {
    return of("hashed", zeroPadding);
  }

  /** Keys that are record numbers with {@code digits} digits, so that their order as text is theirs. */
  public static YcsbKeys ordered(int digits) {
    return of("ordered", digits);
  }

  private static YcsbKeys of(String order, int zeroPadding) {
    Properties properties = new Properties();
    properties.setProperty(Client.RECORD_COUNT_PROPERTY, Integer.toString(LEAST_SAMPLE));
    properties.setProperty(INSERT_ORDER_PROPERTY, order);
    properties.setProperty(ZERO_PADDING_PROPERTY, Integer.toString(zeroPadding));
    Measurements.setProperties(properties); // CoreWorkload's constructor asks for them
    YcsbKeys keys = new YcsbKeys();
    try {
      keys.init(properties);
    } catch (WorkloadException impossible) {
      throw new IllegalStateException("YCSB refuses its own presets", impossible);
    }
    return keys;
  }

  public String key(long number) {
    return buildKeyName(number);
  }

  /**
   * {@code regions - 1} texts that cut the first records, of which there are at most MOST_SAMPLE, into equal parts.
   * For as many regions always the same.
   */
  public byte[][] splits(int regions) {
    int sample = Math.min(MOST_SAMPLE, Math.max(LEAST_SAMPLE, KEYS_PER_REGION * regions));
    long[] places = LongStream.range(0, sample).map(number -> place(key(number))).sorted().toArray();
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      long place = places[(int) ((long) i * sample / regions)];
      String key = PREFIX + Long.toUnsignedString(place - Long.MIN_VALUE);
      splits[i - 1] = key.getBytes(StandardCharsets.US_ASCII);
    }
    return splits;
  }

  /** A number whose order is that of the keys as text: their digits, filled up to the right. */
  private static long place(String key) {
    String digits = key.substring(PREFIX.length());
    return Long.parseUnsignedLong(digits + "0".repeat(DIGITS - digits.length())) + Long.MIN_VALUE;
  }

  /** As {@code splits}, of the records 0 to {@code records - 1} in their own order. */
  public byte[][] splitsInOrder(int regions, long records) {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      splits[i - 1] = key(i * records / regions).getBytes(StandardCharsets.US_ASCII);
    }
    return splits;
  }
}
