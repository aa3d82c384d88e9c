package org.densitystudy.ycsb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.apache.hadoop.hbase.util.Bytes;
import org.densitystudy.ycsb.YcsbKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class YcsbKeysTest {
  private final YcsbKeys keys = YcsbKeys.padded(1);

  @Test
  void keysEqualThoseOfRealRuns() {
    // The first records of any hashed YCSB table; `scan` of one shows them.
    assertEquals("user6284781860667377211", keys.key(0));
    assertEquals("user8517097267634966620", keys.key(1));
  }

  @Test
  void paddingAppliesToTheKeys() {
    assertEquals("user06284781860667377211", YcsbKeys.padded(20).key(0));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 10, 30, 100})
  void unsampledRecordsFillTheRegionsEvenly(int regions) {
    byte[][] splits = keys.splits(regions);
    long[] sizes = new long[regions];
    LongStream.range(5_000_000, 5_200_000)
        .mapToObj(keys::key)
        .forEach(key -> sizes[region(splits, Bytes.toBytes(key))]++);
    double even = 200_000.0 / regions;
    long least = Arrays.stream(sizes).min().orElseThrow();
    long most = Arrays.stream(sizes).max().orElseThrow();
    assertTrue(least > 0.85 * even && most < 1.15 * even, Arrays.toString(sizes));
  }

  /** 72 RegionServers with 20 regions each. */
  @Test
  void manyRegionsAreFilledEvenlyToo() {
    int regions = 1_440;
    byte[][] splits = keys.splits(regions);
    long[] sizes = new long[regions];
    LongStream.range(50_000_000, 52_880_000)
        .mapToObj(keys::key)
        .forEach(key -> sizes[region(splits, Bytes.toBytes(key))]++);
    long least = Arrays.stream(sizes).min().orElseThrow();
    long most = Arrays.stream(sizes).max().orElseThrow();
    assertTrue(least > 0.8 * 2_000 && most < 1.2 * 2_000, least + " to " + most);
  }

  /** Why tables are not split at even distances from user1000 to user9999. */
  @Test
  void evenDistancesLeaveARegionNearlyEmpty() {
    int regions = 20;
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      splits[i - 1] = Bytes.toBytes("user" + (1000 + i * 9000 / regions));
    }
    long[] sizes = new long[regions];
    LongStream.range(0, 20_000)
        .mapToObj(keys::key)
        .forEach(key -> sizes[region(splits, Bytes.toBytes(key))]++);
    assertTrue(Arrays.stream(sizes).min().orElseThrow() < 0.2 * 1000, Arrays.toString(sizes));
  }

  @Test
  void splitsAreSortedAndDeterministic() {
    byte[][] splits = keys.splits(50);
    byte[][] sorted = splits.clone();
    Arrays.sort(sorted, Bytes.BYTES_COMPARATOR);
    assertArrayEquals(sorted, splits);
    assertArrayEquals(YcsbKeys.padded(1).splits(50), splits);
    assertEquals(49, splits.length);
  }

  @Test
  void oneRegionNeedsNoSplit() {
    assertEquals(0, keys.splits(1).length);
  }

  @Test
  void recordsInOrderFillTheRegionsEvenly() {
    YcsbKeys ordered = YcsbKeys.ordered(10);
    assertEquals("user0000000042", ordered.key(42));
    byte[][] splits = ordered.splitsInOrder(8, 5_000);
    long[] sizes = new long[8];
    LongStream.range(0, 5_000)
        .mapToObj(ordered::key)
        .forEach(key -> sizes[region(splits, Bytes.toBytes(key))]++);
    assertArrayEquals(new long[] {625, 625, 625, 625, 625, 625, 625, 625}, sizes);
  }

  /** A region starts at its split key, inclusive. */
  private static int region(byte[][] splits, byte[] key) {
    int found = Arrays.binarySearch(splits, key, Bytes.BYTES_COMPARATOR);
    return found >= 0 ? found + 1 : -found - 1;
  }
}
