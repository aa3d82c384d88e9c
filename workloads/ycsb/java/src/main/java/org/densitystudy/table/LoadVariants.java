package org.densitystudy.table;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * load-variants --table T --family f --vcf FILE [--durability SKIP_WAL]: writes the {@link CalledVariants} of
 * a VCF, uncompressed.
 *
 * <p>Rows are sent in batches, and the result follows the acknowledgement of the last one. The first batch
 * with a row that is not written ends the load as a failure.
 */
record LoadVariants(TableName table, byte[] family, Path vcf, Durability durability)
    implements Task {
  record Loaded(String table, long rows) {}

  static Task parse(Arguments arguments) {
    return new LoadVariants(
        arguments.table(),
        Bytes.toBytes(arguments.option("family")),
        Path.of(arguments.option("vcf")),
        durability(arguments));
  }

  @Override
  public Loaded run(Session session) throws IOException {
    long rows = 0;
    try (BufferedReader lines = Files.newBufferedReader(vcf);
        BufferedMutator writes = session.connection().getBufferedMutator(table)) {
      CalledVariants variants = new CalledVariants(lines, family);
      for (Put put = variants.next(); put != null; put = variants.next()) {
        writes.mutate(put.setDurability(durability));
        rows++;
      }
      writes.flush();
    }
    return new Loaded(table.getNameAsString(), rows);
  }

  private static Durability durability(Arguments arguments) {
    if (!arguments.has("durability")) {
      return Durability.USE_DEFAULT;
    }
    String name = arguments.option("durability");
    try {
      return Durability.valueOf(name);
    } catch (IllegalArgumentException unknown) {
      throw arguments.wrong(unknown, "--durability %s is none of HBase's", name);
    }
  }
}
