package org.densitystudy.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.densitystudy.ycsb.YcsbKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadBackTest {
  @TempDir private Path folder;

  @Test
  void aRangeIsReadInBatches() {
    ReadBack.Range range = ReadBack.Range.parse("10 2410 3");
    assertEquals(801, range.size());
    List<long[]> batches = range.batches().toList();
    assertEquals(2, batches.size());
    assertEquals(ReadBack.BATCH, batches.get(0).length);
    assertArrayEquals(new long[] {10, 13}, new long[] {batches.get(0)[0], batches.get(0)[1]});
    long[] last = batches.get(1);
    assertEquals(2410, last[last.length - 1]);
    assertArrayEquals(new long[] {7}, ReadBack.Range.parse("7 7 1").batches().findAny().get());
  }

  @Test
  void theNumbersComeFromAFile() throws Exception {
    Path file = folder.resolve("numbers");
    Files.writeString(file, "0 99 1\n100 198 2\n");
    ReadBack task = (ReadBack) parse("--numbers", file.toString());
    assertEquals(2, task.ranges().size());
    assertEquals(YcsbKeys.padded(1).key(4), task.keys().key(4));
    ReadBack ordered = (ReadBack) parse("--numbers", file.toString(), "--digits", "7");
    assertEquals("user0000004", ordered.keys().key(4));
    Files.writeString(file, "5 3 1\n");
    IllegalArgumentException wrong =
        assertThrows(IllegalArgumentException.class, () -> parse("--numbers", file.toString()));
    assertTrue(wrong.getMessage().contains("'5 3 1' is not FIRST LAST STEP"));
    assertThrows(IllegalArgumentException.class, () -> parse("--numbers", folder + "/none"));
  }

  private static Task parse(String... options) {
    List<String> words = new java.util.ArrayList<>(List.of("read-back", "--table", "t"));
    words.addAll(List.of(options));
    return ReadBack.parse(new Arguments(words));
  }
}
