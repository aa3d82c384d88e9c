package org.densitystudy.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CalledVariantsTest {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final String HEADER =
      "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tg001\tg003\n";

  @Test
  void aVariantIsARowWithTheGenotypeOfEachSample() throws IOException {
    CalledVariants variants =
        read(HEADER + "chr1\t77\t.\tAT\tA\t9\t.\tDP=1\tGT:PL\t0/1:1,2,3\t./.\n");
    Put put = variants.next();
    assertEquals("chr1:0000000077:AT:A", Bytes.toString(put.getRow()));
    assertEquals("0/1", value(put, "g001"));
    assertEquals("./.", value(put, "g003"));
    assertEquals(2, put.size());
    assertNull(variants.next());
  }

  @ParameterizedTest
  @CsvSource({
    "'chr1 7 . A G 9 . . GT 0/1', line 3: not the fixed columns",
    "'chr1 7 . A G,T 9 . . GT 0/1 0/0', line 3: not one alternative",
    "'chr1 7 . A G 9 . . PL:GT 0/1 0/0', line 3: not one alternative allele or no genotypes",
    "'chr1 x . A G 9 . . GT 0/1 0/0', line 3: position x is not a number",
    "'chr1', line 3: not the fixed columns",
    "'', line 3: not the fixed columns",
  })
  void aWrongLineIsNamed(String line, String message) {
    CalledVariants variants = read(HEADER + line.replace(' ', '\t') + "\n");
    IOException wrong = assertThrows(IOException.class, variants::next);
    assertTrue(wrong.getMessage().replace(",", "").contains(message), wrong.getMessage());
  }

  @Test
  void aFileWithoutHeaderIsNoVcf() {
    assertThrows(IOException.class, read("")::next);
    assertThrows(IOException.class, read("chr1\t7\t.\tA\tG\t9\t.\t.\tGT\t0/1\n")::next);
  }

  @Test
  void regionsDivideAContigAlongItsKeys() {
    List<String> words =
        List.of("create", "--table", "t", "--family", "f", "--regions", "3", "--contig", "chr1,90");
    CreateTable create = (CreateTable) CreateTable.parse(new Arguments(words));
    String[] keys = Arrays.stream(create.splits()).map(Bytes::toString).toArray(String[]::new);
    assertArrayEquals(new String[] {"chr1:0000000031", "chr1:0000000061"}, keys);
  }

  private static CalledVariants read(String text) {
    return new CalledVariants(new BufferedReader(new StringReader(text)), FAMILY);
  }

  private static String value(Put put, String sample) {
    var cell = put.get(FAMILY, Bytes.toBytes(sample)).get(0);
    return Bytes.toString(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength());
  }
}
