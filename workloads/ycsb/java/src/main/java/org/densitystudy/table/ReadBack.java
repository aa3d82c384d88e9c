package org.densitystudy.table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.densitystudy.ycsb.YcsbKeys;

/**
 * read-back --table T --numbers FILE [--digits N]: asks the table for the row of every record number in FILE,
 * which has a line {@code FIRST LAST STEP} per range. Keys are YCSB's: hashed, or with --digits ordered.
 */
record ReadBack(TableName table, List<Range> ranges, YcsbKeys keys) implements Task {
  /** Rows that were asked for, those that are there, and some of the others. */
  record Found(String table, long asked, long found, List<String> lost) {}

  record Range(long first, long last, long step) {
    static Range parse(String line) {
      String[] numbers = line.split(" ", -1);
      if (numbers.length == 3) {
        Range range =
            new Range(
                Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
        if (range.first >= 0 && range.last >= range.first && range.step > 0) {
          return range;
        }
      }
      throw new IllegalArgumentException("'" + line + "' is not FIRST LAST STEP");
    }

    long size() {
      return (last - first) / step + 1;
    }

    /** Its batches of at most BATCH numbers. */
    Stream<long[]> batches() {
      return LongStream.rangeClosed(0, (size() - 1) / BATCH).mapToObj(this::batch);
    }

    private long[] batch(long number) {
      long begin = number * BATCH;
      return LongStream.range(begin, Math.min(begin + BATCH, size()))
          .map(i -> first + i * step)
          .toArray();
    }
  }

  static final int BATCH = 500;
  private static final int SHOWN = 20;

  static Task parse(Arguments arguments) {
    YcsbKeys keys =
        arguments.has("digits")
            ? YcsbKeys.ordered(arguments.number("digits", 1))
            : YcsbKeys.padded(1);
    Path file = Path.of(arguments.option("numbers"));
    TableName table = arguments.table();
    try {
      return new ReadBack(table, Files.readAllLines(file).stream().map(Range::parse).toList(), keys);
    } catch (IOException | IllegalArgumentException wrong) {
      throw arguments.wrong(wrong, "--numbers: %s", wrong.getMessage());
    }
  }

  @Override
  public Found run(Session session) throws IOException {
    Connection connection = session.connection();
    try {
      // a stream of batches over all ranges: one range may hold nearly all rows
      List<Missing> missing =
          ranges.stream()
              .flatMap(Range::batches)
              .toList()
              .parallelStream()
              .map(numbers -> missing(connection, numbers))
              .filter(one -> one.count > 0)
              .toList();
      long asked = ranges.stream().mapToLong(Range::size).sum();
      long lost = missing.stream().mapToLong(Missing::count).sum();
      List<String> some = missing.stream().flatMap(one -> one.keys.stream()).limit(SHOWN).toList();
      return new Found(table.getNameAsString(), asked, asked - lost, some);
    } catch (UncheckedIOException failure) {
      throw failure.getCause();
    }
  }

  private record Missing(long count, List<String> keys) {}

  private Missing missing(Connection connection, long[] numbers) {
    List<Get> gets = new ArrayList<>();
    for (long number : numbers) {
      gets.add(new Get(Bytes.toBytes(keys.key(number))).setCacheBlocks(false));
    }
    try (Table open = connection.getTable(table)) {
      boolean[] there = open.exists(gets);
      List<String> lost = new ArrayList<>();
      long count = 0;
      for (int i = 0; i < there.length; i++) {
        if (!there[i]) {
          count++;
          if (lost.size() < SHOWN) {
            lost.add(Bytes.toString(gets.get(i).getRow()));
          }
        }
      }
      return new Missing(count, lost);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
