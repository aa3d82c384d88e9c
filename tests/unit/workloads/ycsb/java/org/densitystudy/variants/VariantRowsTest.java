package org.densitystudy.variants;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;

class VariantRowsTest {
  private static final VariantStore STORE = new VariantStore(40, 5_000, 11);
  private final VariantRows rows = new VariantRows(STORE.genome(), STORE.seed());

  @Test
  void aKeyConsistsOfChromosomePositionAndSample() {
    assertTrue(rows.key(0, 39).matches("01:\\d{9}:000039"), rows.key(0, 39));
    assertTrue(rows.key(4_999, 0).matches("24:\\d{9}:000000"), rows.key(4_999, 0));
  }

  @Test
  void keysSortLikeSitesAndSamples() {
    String last = "";
    for (int site = 0; site < STORE.sites(); site++) {
      for (int sample : new int[] {0, 9, 10, 39}) {
        String key = rows.key(site, sample);
        assertTrue(key.compareTo(last) > 0);
        last = key;
      }
    }
  }

  @Test
  void aRowIsDeterministic() {
    VariantRows again = new VariantRows(STORE.genome(), STORE.seed());
    for (int site = 0; site < 200; site++) {
      assertEquals(rows.values(site, 3), again.values(site, 3));
    }
    assertNotEquals(rows.values(5, 3).get("g"), new VariantRows(STORE.genome(), 12).values(5, 3).get("g"));
  }

  @Test
  void valuesLookLikeAGvcf() {
    int variants = 0;
    for (int site = 0; site < STORE.sites(); site++) {
      Map<String, String> values = rows.values(site, site % 40);
      if (VariantRows.isVariant(values)) {
        variants++;
        assertTrue(values.get("v").matches("[ACGT]+\t[ACGT]+,<NON_REF>"), values.get("v"));
        assertTrue(values.get("q").matches("\\d+\\.\\d\\d\t(PASS|LowQual)"), values.get("q"));
        assertTrue(values.get("i").matches("AC=[12],0;AF=.*;AN=2;DP=\\d+;.*;SOR=\\d+\\.\\d{3}"));
        assertTrue(
            values.get("g").matches("(0/1|1/1|0\\|1):\\d+,\\d+,0:\\d+:99(:0\\|1:\\d+_[ACGT]+_[ACGT]+)?:.*"),
            values.get("g"));
      } else {
        assertTrue(values.get("v").matches("[ACGT]\t<NON_REF>"), values.get("v"));
        assertTrue(values.get("e").matches("END=\\d+"));
        assertTrue(values.get("g").matches("0/0:\\d+:\\d+:\\d+:0,\\d+,\\d+"), values.get("g"));
      }
    }
    assertEquals(0.17, variants / 5_000.0, 0.03, "share of variant records");
  }

  @Test
  void referenceAndAlternativeBelongToTheSite() {
    for (int site = 0; site < 300; site++) {
      List<String> alleles = new ArrayList<>();
      for (int sample = 0; sample < STORE.samples(); sample++) {
        Map<String, String> values = rows.values(site, sample);
        if (VariantRows.isVariant(values)) {
          alleles.add(values.get("v"));
        }
        assertEquals(rows.values(site, 0).get("v").charAt(0), values.get("v").charAt(0));
      }
      assertTrue(alleles.stream().distinct().count() <= 1, alleles.toString());
    }
  }

  /** The constants of variant_store.py: VALUE_BYTES, STORED_BYTES. */
  @Test
  void sizesMatchTheStudysEstimates() {
    long values = 0;
    long stored = 0;
    List<Integer> ofVariants = new ArrayList<>();
    for (int site = 0; site < STORE.sites(); site++) {
      Map<String, String> row = rows.values(site, site % 40);
      int bytes = row.values().stream().mapToInt(String::length).sum();
      values += bytes;
      stored += bytes + row.size() * (long) (19 + 1 + 1 + 8 + 1 + 2 + 1 + 8);
      if (VariantRows.isVariant(row)) {
        ofVariants.add(bytes);
      }
    }
    int[] sorted = ofVariants.stream().mapToInt(Integer::intValue).sorted().toArray();
    String said = values / 5_000 + " " + stored / 5_000 + " " + sorted[sorted.length / 2]
        + " " + sorted[sorted.length * 99 / 100];
    assertEquals(80, values / 5_000.0, 12, said);
    assertEquals(210, stored / 5_000.0, 30, said);
    assertTrue(sorted[sorted.length / 2] > 180 && sorted[sorted.length - 1] < 600, said);
  }

  @Test
  void splitsDivideTheRowsEvenlyBetweenSites() {
    byte[][] splits = STORE.splits(20);
    long[] sizes = new long[20];
    for (int site = 0; site < STORE.sites(); site++) {
      for (int sample = 0; sample < STORE.samples(); sample++) {
        byte[] key = Bytes.toBytes(rows.key(site, sample));
        int found = Arrays.binarySearch(splits, key, Bytes.BYTES_COMPARATOR);
        sizes[found >= 0 ? found + 1 : -found - 1]++;
      }
    }
    for (long size : sizes) {
      assertEquals(10_000, size, 0);
    }
    assertEquals(0, STORE.splits(1).length);
  }
}
