package org.densitystudy.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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
  /** Enough that of 100 regions each holds its hundredth of the keys within some 3 %. */
  public static final int SAMPLE = 100_000;

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
    properties.setProperty(Client.RECORD_COUNT_PROPERTY, Integer.toString(SAMPLE));
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

  /** {@code regions - 1} keys that cut records 0 to SAMPLE - 1 into equal parts; never others. */
  public byte[][] splits(int regions) {
    String[] keys = LongStream.range(0, SAMPLE).mapToObj(this::key).toArray(String[]::new);
    Arrays.sort(keys);
    return cut(keys, regions);
  }

  /** As {@code splits}, of the records 0 to {@code records - 1} in their own order. */
  public byte[][] splitsInOrder(int regions, long records) {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      splits[i - 1] = key(i * records / regions).getBytes(StandardCharsets.US_ASCII);
    }
    return splits;
  }

  private static byte[][] cut(String[] keys, int regions) {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      String key = keys[(int) ((long) i * SAMPLE / regions)];
      splits[i - 1] = key.getBytes(StandardCharsets.US_ASCII);
    }
    return splits;
  }
}
