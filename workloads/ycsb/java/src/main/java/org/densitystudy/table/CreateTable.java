package org.densitystudy.table;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;
import org.densitystudy.variants.VariantStore;
import org.densitystudy.ycsb.YcsbKeys;

/**
 * create --table usertable --family f --regions N [--variants SAMPLES,SITES,SEED | --ordered RECORDS,DIGITS |
 * --contig NAME,BASES] [--compression GZ] [--encoding FAST_DIFF] [--bloom ROW] [--block-size BYTES]
 * [--prefetch true].
 *
 * <p>N regions of equal size, for YCSB's hashed keys, for the rows of a variant store, for records in their
 * own order, or for {@link CalledVariants}. The table is pre-split and is neither split nor normalized later,
 * because results before and after such a change cannot be compared.
 */
record CreateTable(TableName table, ColumnFamilyDescriptor family, byte[][] splits) implements Task {
  /** Family: its attributes, as the cluster shows them. */
  record Created(String table, int regions, List<String> splitKeys, String family) {}

  static Task parse(Arguments arguments) {
    return new CreateTable(arguments.table(), family(arguments), splits(arguments));
  }

  private static ColumnFamilyDescriptor family(Arguments arguments) {
    String name = arguments.option("family");
    ColumnFamilyDescriptorBuilder family =
        ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(name));
    if (arguments.has("compression")) {
      family.setCompressionType(
          Compression.Algorithm.valueOf(arguments.option("compression")));
    }
    if (arguments.has("encoding")) {
      family.setDataBlockEncoding(DataBlockEncoding.valueOf(arguments.option("encoding")));
    }
    if (arguments.has("bloom")) {
      family.setBloomFilterType(BloomType.valueOf(arguments.option("bloom")));
    }
    if (arguments.has("block-size")) {
      family.setBlocksize(arguments.number("block-size", 1));
    }
    if (arguments.has("prefetch")) {
      family.setPrefetchBlocksOnOpen(Boolean.parseBoolean(arguments.option("prefetch")));
    }
    return family.build();
  }

  @Override
  public Created run(Session session) throws IOException {
    TableDescriptor descriptor =
        TableDescriptorBuilder.newBuilder(table)
            .setColumnFamily(family)
            .setSplitEnabled(false)
            .setMergeEnabled(false)
            .setNormalizationEnabled(false)
            .build();
    session.admin().createTable(descriptor, splits.length == 0 ? null : splits);
    List<String> keys = Arrays.stream(splits).map(Bytes::toStringBinary).toList();
    String shown = session.admin().getDescriptor(table).getColumnFamilies()[0].toString();
    return new Created(table.getNameAsString(), splits.length + 1, keys, shown);
  }

  private static byte[][] splits(Arguments arguments) {
    int regions = arguments.number("regions", 1);
    if (arguments.has("variants")) {
      return ofVariants(arguments, regions);
    }
    if (arguments.has("ordered")) {
      return inOrder(arguments, regions);
    }
    if (arguments.has("contig")) {
      return alongContig(arguments, regions);
    }
    if (regions > YcsbKeys.MAX_REGIONS) {
      throw arguments.wrong("--regions %d is above %d", regions, YcsbKeys.MAX_REGIONS);
    }
    return YcsbKeys.padded(1).splits(regions);
  }

  private static byte[][] inOrder(Arguments arguments, int regions) {
    String[] numbers = arguments.option("ordered").split(",", -1);
    try {
      long records = Long.parseLong(numbers[0]);
      if (numbers.length == 2 && regions <= records) {
        return YcsbKeys.ordered(Integer.parseInt(numbers[1])).splitsInOrder(regions, records);
      }
    } catch (IndexOutOfBoundsException | NumberFormatException wrong) {
      throw arguments.wrong(wrong, "--ordered: %s", wrong.getMessage());
    }
    throw arguments.wrong("--ordered takes RECORDS,DIGITS, and no more regions than records");
  }

  private static byte[][] alongContig(Arguments arguments, int regions) {
    String[] words = arguments.option("contig").split(",", -1);
    try {
      long bases = Long.parseLong(words[1]);
      if (words.length == 2 && regions <= bases) {
        return LongStream.range(1, regions)
            .mapToObj(i -> Bytes.toBytes(CalledVariants.key(words[0], bases * i / regions + 1)))
            .toArray(byte[][]::new);
      }
    } catch (IndexOutOfBoundsException | NumberFormatException wrong) {
      throw arguments.wrong(wrong, "--contig: %s", wrong.getMessage());
    }
    throw arguments.wrong("--contig takes NAME,BASES, and no more regions than bases");
  }

  private static byte[][] ofVariants(Arguments arguments, int regions) {
    String[] numbers = arguments.option("variants").split(",", -1);
    try {
      int sites = Integer.parseInt(numbers[1]);
      if (numbers.length == 3 && regions <= sites) {
        long seed = Long.parseLong(numbers[2]);
        return new VariantStore(Integer.parseInt(numbers[0]), sites, seed).splits(regions);
      }
    } catch (IndexOutOfBoundsException | IllegalArgumentException wrong) {
      throw arguments.wrong(wrong, "--variants: %s", wrong.getMessage());
    }
    throw arguments.wrong("--variants takes SAMPLES,SITES,SEED, and no more regions than sites");
  }
}
